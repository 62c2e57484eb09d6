/** CoreDNS, the DNS server of nearly every cluster, built from source with its default set of plugins. */
import { join } from 'node:path';
import { GO_TOOLS, buildGo } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const COREDNS_VERSION = '1.15.0';
const MODULE = 'github.com/coredns/coredns';

/** The path of coredns. */
export async function ensureCoreDns(): Promise<string> {
  const home = await install({
    name: `coredns-${COREDNS_VERSION}`,
    files: ['coredns'],
    doing: `building CoreDNS ${COREDNS_VERSION} (about 4 min, once)`,
    tools: GO_TOOLS,
    make: (into) =>
      buildGo(
        {
          name: `coredns-${COREDNS_VERSION}`,
          module: MODULE,
          version: `v${COREDNS_VERSION}`,
          packages: [MODULE],
        },
        join(into, 'coredns'),
      ),
  });
  return join(home, 'coredns');
}
