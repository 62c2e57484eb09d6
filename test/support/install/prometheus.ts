/** Prometheus and its promtool, as Debian packages them: what checks expressions and rules. */
import { join } from 'node:path';
import { DEBIAN_TOOLS, unpackDebian } from './debian.ts';
import { install } from '../../../src/store/embedded/cache.ts';

/** The paths of both. */
export async function ensurePrometheus(): Promise<{ prometheus: string; promtool: string }> {
  const home = await install({
    name: 'prometheus-debian',
    files: ['usr/bin/promtool', 'usr/bin/prometheus'],
    doing: 'fetching Prometheus from Debian (about 1 min, once)',
    tools: DEBIAN_TOOLS,
    make: (into) => unpackDebian('prometheus', into),
  });
  return { prometheus: join(home, 'usr/bin/prometheus'), promtool: join(home, 'usr/bin/promtool') };
}
