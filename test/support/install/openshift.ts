/** The CRDs of OpenShift's Route and IngressController, from its API module. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

/** The newest that the module proxy has. */
const VERSION = 'v0.0.0-20251015095338-264e80a2b6e7';
const FILES = [
  'route/v1/zz_generated.crd-manifests/routes.crd.yaml',
  'operator/v1/zz_generated.crd-manifests/0000_50_ingress_00_ingresscontrollers.crd.yaml',
];

async function make(into: string): Promise<void> {
  const { directory } = await downloadModule('github.com/openshift/api', VERSION);
  const texts = await Promise.all(FILES.map((file) => readFile(join(directory, file), 'utf8')));
  await writeFile(join(into, 'crds.yaml'), texts.join('\n---\n'));
}

/** The path of the CRDs. */
export async function ensureOpenShiftCrds(): Promise<string> {
  const home = await install({
    name: `openshift-api-${VERSION.slice(-12)}`,
    files: ['crds.yaml'],
    doing: 'fetching the API of OpenShift (some seconds, once)',
    tools: GO_TOOLS,
    make,
  });
  return join(home, 'crds.yaml');
}
