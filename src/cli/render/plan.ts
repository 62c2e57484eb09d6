/** What a proxy would be given for some objects: the operator's own planner over them. Pure, apart from the clock that it is given. */
import { NOTHING_LEARNED } from '../../control/kernel/reconcile.ts';
import { rowsOf } from '../../control/kernel/watches.ts';
import type { RowName, View } from '../../control/kernel/watches.ts';
import type { ProxyDocument } from '../../control/proxy/config/document.ts';
import { PROXY_LABEL } from '../../control/proxy/names.ts';
import { observeProxy } from '../../control/proxy/observe.ts';
import type { ProxyCaches } from '../../control/proxy/observe.ts';
import { planProxy } from '../../control/proxy/plan.ts';
import { PROXY_WATCHES } from '../../control/proxy/watches.ts';
import type { ProxyViews } from '../../control/proxy/watches.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { AnyObject } from '../../kube/object.ts';
import { healthOf } from '../../view/health.ts';
import { redacted } from './redact.ts';

export interface Rendered {
  document: ProxyDocument;
  /** Why something is not served, for people. */
  problems: string[];
}

/** None of what the plan makes of these is shown. */
const NO_ACCESS = { token: '-', metricsToken: '-', certificate: '-', privateKey: '-' };
const SETTINGS = { image: '-', clusterDomain: 'cluster.local' };

export function renderProxy(
  objects: readonly AnyObject[],
  proxy: { namespace: string; name: string },
  { now, clusterDomain = SETTINGS.clusterDomain }: { now: number; clusterDomain?: string | undefined },
): Rendered {
  const observed = observeProxy(cachesOf(objects), proxy, now, () => NO_ACCESS);
  const plan = planProxy(observed, { ...SETTINGS, clusterDomain }, NOTHING_LEARNED);
  const document = JSON.parse(plan.config.text) as ProxyDocument;
  const filters = new Map(
    observed.snapshot.filters.map(({ metadata, spec }) => [metadata.name, spec.config]),
  );
  return { document: redacted(document, filters), problems: plan.statuses.flatMap(problemsOf) };
}

type Name = RowName<ProxyViews>;

function cachesOf(objects: readonly AnyObject[]): ProxyCaches {
  const views = rowsOf(PROXY_WATCHES).map(([name, row]) => {
    const isOfRow = ({ kind, metadata }: AnyObject) =>
      kind === row.kind.kind && (!row.owned || metadata.labels?.[PROXY_LABEL] !== undefined);
    return [name, viewOf(objects.filter(isOfRow), row.indexes)] as const;
  });
  return {
    views: Object.fromEntries(views) as Record<Name, View>,
    undiscovered: new Set(),
    versionOf: (name) => PROXY_WATCHES[name].kind.versions.at(-1),
  };
}

function viewOf(
  objects: readonly AnyObject[],
  indexes: Readonly<Record<string, (object: AnyObject) => Iterable<string>>> = {},
): View {
  const store = createStore<AnyObject>();
  for (const [index, valuesOf] of Object.entries(indexes)) store.addIndex(index, valuesOf);
  for (const object of objects) store.set(object);
  return {
    get: (key) => store.get(key),
    find: (index, value) => store.find(index, value),
    list: (namespace) =>
      [...store.values()].filter(
        ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
      ),
  };
}

/** That nothing runs yet is no problem of what is rendered; what is refused or leads nowhere is. */
function problemsOf({ kind, name, status }: { kind: string; name: string; status?: object }): string[] {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] };
  const static_ = conditions.filter(({ type }) => type !== 'Ready');
  const object = { apiVersion: '', kind, metadata: { name }, status: { conditions: static_ } };
  const { state, reason, message } = healthOf(object);
  return state === 'notReady' ? [`${kind} "${name}": ${reason}: ${message}`] : [];
}
