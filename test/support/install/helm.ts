/** Helm, built from source: what people install charts with. */
import { join } from 'node:path';
import { GO_TOOLS, buildGo } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const HELM_VERSION = '4.3.1';
const MODULE = 'helm.sh/helm/v4';

/** The path of helm. */
export async function ensureHelm(): Promise<string> {
  const home = await install({
    name: `helm-${HELM_VERSION}`,
    files: ['helm'],
    doing: `building Helm ${HELM_VERSION} (about 4 min, once)`,
    tools: GO_TOOLS,
    make: (into) =>
      buildGo(
        {
          name: `helm-${HELM_VERSION}`,
          module: MODULE,
          version: `v${HELM_VERSION}`,
          packages: [`${MODULE}/cmd/helm`],
        },
        join(into, 'helm'),
      ),
  });
  return join(home, 'helm');
}
