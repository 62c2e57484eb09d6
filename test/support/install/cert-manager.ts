/**
 * cert-manager, from its module on the Go module proxy. Of the newest one only the CRD of Certificate is there: what an API server would
 * refuse today is refused in tests. The controller is of the last version whose module has the program, and for
 * `npm run test:cert-manager` alone, because it takes minutes to build.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { AnyObject } from '../../../src/kube/object.ts';
import { install, step } from '../../../src/store/embedded/cache.ts';
import { GO_TOOLS, downloadModule } from './go.ts';

const MODULE = 'github.com/cert-manager/cert-manager';
const VERSION = 'v1.18.2';
const CONTROLLER_VERSION = 'v1.11.5';

async function crdIn(path: string): Promise<AnyObject> {
  const { metadata, ...crd } = parse(await readFile(path, 'utf8')) as AnyObject;
  // Labels and annotations are templates of a chart.
  return { ...crd, metadata: { name: metadata.name } };
}

/** The CRD of Certificate. */
export async function certificateCrd(): Promise<AnyObject> {
  const { directory } = await downloadModule(MODULE, VERSION);
  return crdIn(join(directory, 'deploy', 'crds', 'crd-certificates.yaml'));
}

/** All CRDs that the controller follows. */
export async function controllerCrds(): Promise<AnyObject[]> {
  const { directory } = await downloadModule(MODULE, CONTROLLER_VERSION);
  const crds = join(directory, 'deploy', 'crds');
  const files = (await readdir(crds)).filter((file) => /^crd-.*\.yaml$/.test(file));
  return Promise.all(files.map((file) => crdIn(join(crds, file))));
}

async function build(into: string): Promise<void> {
  const { directory } = await downloadModule(MODULE, CONTROLLER_VERSION);
  const args = [
    'build',
    '-trimpath',
    '-ldflags',
    '-s -w',
    '-o',
    join(into, 'controller'),
    './cmd/controller',
  ];
  await step('go', args, {
    cwd: directory,
    env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
    timeoutMs: 60 * 60_000,
  });
}

/** The path of the controller. */
export async function ensureCertManager(): Promise<string> {
  const home = await install({
    name: `cert-manager-${CONTROLLER_VERSION.slice(1)}`,
    files: ['controller'],
    doing: `building cert-manager ${CONTROLLER_VERSION.slice(1)} (about 5 min, once)`,
    tools: GO_TOOLS,
    make: build,
  });
  return join(home, 'controller');
}
