/** The Python client confluent-kafka (librdkafka), in a directory of its own. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { unpackDebian } from './debian.ts';
import { install, requireTools, step } from '../../../src/store/embedded/cache.ts';

export const CONFLUENT_KAFKA_VERSION = '2.16.1';
const PYTHON_TOOLS = { python3: 'install Python 3, e.g. `apt-get install python3`' };

/** The arguments with which python3 runs pip. Debian's Python comes without it, but Debian has it as a package. */
async function pip(into: string): Promise<string[]> {
  if ((await run('python3', ['-m', 'pip', '--version'])).code === 0) return ['-m', 'pip'];
  await unpackDebian('python3-pip-whl', into);
  const [wheel] = globSync(join(into, 'usr/share/python-wheels/pip-*.whl'));
  if (wheel === undefined) throw new Error('the Debian package python3-pip-whl has no pip in it');
  return [join(wheel, 'pip')];
}

/** `PYTHONPATH` for scripts that import confluent_kafka. */
export async function ensureConfluentKafka(): Promise<string> {
  requireTools(PYTHON_TOOLS);
  const { stdout: python } = await run('python3', [
    '-c',
    'import sys; print("%d.%d" % sys.version_info[:2])',
  ]);
  const home = await install({
    name: `confluent-kafka-${CONFLUENT_KAFKA_VERSION}-python-${python.trim()}`,
    files: ['site'],
    doing: `fetching confluent-kafka ${CONFLUENT_KAFKA_VERSION} for Python (some seconds, once)`,
    tools: PYTHON_TOOLS,
    make: async (into) => {
      const wanted = ['--only-binary', ':all:', `confluent-kafka==${CONFLUENT_KAFKA_VERSION}`];
      const args = [
        'install',
        '--quiet',
        '--disable-pip-version-check',
        '--target',
        join(into, 'site'),
        ...wanted,
      ];
      await step('python3', [...(await pip(into)), ...args]);
    },
  });
  return join(home, 'site');
}
