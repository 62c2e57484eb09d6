/** Says of each KafkaProtocolFilter whether it can be used, whoever uses it. */
import type { AnyObject } from '../../kube/object.ts';
import { moduleOf } from '../../ops/filter-module.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import type { Plan } from '../kernel/plan.ts';
import { read } from '../kernel/read.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Watched } from '../kernel/watches.ts';
import type { Checker } from './config/checks.ts';
import { conditionsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import { readTexts } from './observe.ts';
import { REFS, textsAmong } from './refs.ts';
import { filterConfig } from './resolve/resolve.ts';
import type { ProxyViews } from './watches.ts';

/** A filter, and what is wrong with it as far as its references go; or its config as the proxy would get it. */
export interface ObservedFilter {
  live: AnyObject | undefined;
  faults: Fault[];
  use: { type: string; config: unknown } | undefined;
}

export interface FilterPlan extends Plan {
  use: ObservedFilter['use'];
}

export function filterReconciler(
  watched: Pick<Watched<ProxyViews>, 'views' | 'load'>,
  checker: Checker,
): Reconciler<ObservedFilter, FilterPlan, string> {
  const { views } = watched;
  return {
    load: (key, signal) =>
      watched.load(
        `filter ${key}`,
        textsAmong([views.filters.get(key) ?? []].flat().flatMap(REFS.filters)),
        signal,
      ),
    observe: (key) => observeFilter(views.filters.get(key), views),
    plan: (observed, { checked }) => planFilter(observed, checked),
    check: async ({ use }, known) =>
      use && known === undefined ? checker.filter(use.type, use.config) : undefined,
  };
}

function observeFilter(live: AnyObject | undefined, views: ProxyViews): ObservedFilter {
  if (!live) return { live, faults: [], use: undefined };
  const { resource, problem } = read(kafkaProtocolFilter, live);
  if (!resource) return { live, faults: [{ reason: 'Invalid', path: [], message: problem }], use: undefined };
  // What a user's own filter may do is up to each proxy that uses it, and said of the virtual clusters there.
  if (moduleOf(resource.spec.type) !== undefined) return { live, faults: [], use: undefined };
  const { value, faults: found } = filterConfig(resource, [], readTexts(views, REFS.filters(live)));
  const faults = found.map((fault) => ({ ...fault, path: ['spec', 'config'] }));
  return { live, faults, use: faults.length > 0 ? undefined : { type: resource.spec.type, config: value } };
}

function planFilter({ live, faults, use }: ObservedFilter, rejection: string | undefined): FilterPlan {
  const nothing = { persist: [], targets: [], actions: [], lookAgainInMs: undefined, use };
  if (!live) return { ...nothing, statuses: [] };
  const { namespace = '', name, generation } = live.metadata;
  const rejected: Fault[] =
    rejection === undefined ? [] : [{ reason: 'Invalid', path: ['spec', 'config'], message: rejection }];
  const conditions = conditionsOf([...faults, ...rejected], ['Accepted', 'ResolvedRefs'], generation);
  const status = { ...(generation !== undefined && { observedGeneration: generation }), conditions };
  return { ...nothing, statuses: [{ kind: live.kind, namespace, name, status }] };
}
