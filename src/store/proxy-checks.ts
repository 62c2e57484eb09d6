/** Lends the proxy's own checks to the operator, which must not know the proxy. */
import type { ProxyChecks } from '../control/proxy/config/checks.ts';
import { messageOf } from '../ops/errors.ts';
import { moduleOf } from '../ops/filter-module.ts';
import { usableClusters } from '../proxy/config/check.ts';
import { checkProxyConfig, problemLines } from '../proxy/config/load.ts';
import { checkFilter } from '../proxy/filters/registry.ts';

/** A module of the user's is in the proxy's image, not in the operator's, and is not run here. */
const isForeign = (type: string) => moduleOf(type) !== undefined;

async function problemIn(check: () => unknown): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

export const proxyChecks: ProxyChecks = {
  filter: (type, config) =>
    problemIn(() => (isForeign(type) ? undefined : checkFilter({ type, config }, 'config'))),
  document: (document) =>
    problemIn(async () => {
      const { config } = checkProxyConfig(document, 'the configuration for the proxy');
      const virtualClusters = config.virtualClusters.map((cluster) => ({
        ...cluster,
        filters: cluster.filters.filter(({ type }) => !isForeign(type)),
      }));
      const { rejected } = await usableClusters(virtualClusters);
      if (rejected.length > 0) throw new Error(problemLines(rejected));
    }),
};
