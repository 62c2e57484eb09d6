/** The CRD of OpenShift's DNS operator, from its API module. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

const VERSION = 'v0.0.0-20251015095338-264e80a2b6e7';
const FILE = 'operator/v1/zz_generated.crd-manifests/0000_70_dns_00_dnses.crd.yaml';

/** The path of the CRD. */
export async function ensureOpenShiftDnsCrd(): Promise<string> {
  const home = await install({
    name: `openshift-dns-${VERSION.slice(-12)}`,
    files: ['crd.yaml'],
    doing: "fetching the API of OpenShift's DNS (some seconds, once)",
    tools: GO_TOOLS,
    make: async (into) => {
      const { directory } = await downloadModule('github.com/openshift/api', VERSION);
      await copyFile(join(directory, FILE), join(into, 'crd.yaml'));
    },
  });
  return join(home, 'crd.yaml');
}
