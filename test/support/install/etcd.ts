/** etcd, built from source. Debian's is too old to be told not to fsync, which is most of its cost in a test. */
import { join } from 'node:path';
import { GO_TOOLS, buildGo } from './go.ts';
import { fromAssets } from './kubernetes.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const ETCD_VERSION = '3.6.16';
const MODULE = 'go.etcd.io/etcd/server/v3';

/** The path of etcd. */
export async function ensureEtcd(): Promise<string> {
  const ready = fromAssets('etcd');
  if (ready !== undefined) return ready;
  const home = await install({
    name: `etcd-${ETCD_VERSION}`,
    files: ['etcd'],
    doing: `building etcd ${ETCD_VERSION} (about 1 min, once)`,
    tools: GO_TOOLS,
    make: (into) =>
      buildGo(
        { name: `etcd-${ETCD_VERSION}`, module: MODULE, version: `v${ETCD_VERSION}`, packages: [MODULE] },
        join(into, 'etcd'),
      ),
  });
  return join(home, 'etcd');
}
