/** Makes what other clusters export reachable in this one, and says of this one's exports whether they are. One replica does it. */
import { createWriter } from '../../kube/apply.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { mergeConditions } from '../../kube/conditions.ts';
import { SUCCESS, createController } from '../../kube/controller.ts';
import type { Outcome } from '../../kube/controller.ts';
import { apiVersionOf, nameOfKey } from '../../kube/object.ts';
import type { ObjectName } from '../../kube/object.ts';
import { writeStatus } from '../../kube/status.ts';
import type { Log } from '../../ops/log.ts';
import type { ClusterSet } from './cluster-set.ts';
import { derivedName, exportConditions, ownerLabels, planImport } from './import-plan.ts';
import { SOURCE_CLUSTER_LABEL } from './names.ts';
import { ENDPOINT_SLICE, SERVICE } from './objects.ts';
import type { ServiceExport, ServiceImport } from './objects.ts';

export interface ImporterOptions {
  local: Cluster;
  set: ClusterSet;
  log: Log;
}

export interface Importer {
  wake(key: string): void;
  /** Works until the signal is aborted. */
  work(signal: AbortSignal): Promise<void>;
}

const SIGNATURE = {
  fieldManager: 'isthmus-discover',
  hashAnnotation: 'connectivity.tanzu.vmware.com/applied',
};

export function createImporter({ local, set, log }: ImporterOptions): Importer {
  const writer = createWriter(() => ({ client: local.client }), SIGNATURE);
  let wake: ((key: string) => void) | undefined;

  /** Clusters that had a part in the service and of which nothing is known now: without them it must not be touched. */
  function missing(key: string): string[] {
    const { imported, importedSlices } = set.seen(key);
    const sources = importedSlices.map(({ metadata }) => metadata.labels?.[SOURCE_CLUSTER_LABEL]);
    const known = new Set([...sources, ...(imported?.status?.clusters ?? []).map(({ cluster }) => cluster)]);
    return set.unread().filter((name) => known.has(name));
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { namespace = '', name } = nameOfKey(key);
    const service = { namespace, name };
    const type = set.imports.current?.type;
    if (!type || missing(key).length > 0) return SUCCESS;
    const seen = set.seen(key);
    const derived = set.local.services.get(`${namespace}/${derivedName(service)}`);
    const settings = { local: local.name, apiVersion: apiVersionOf(type) };
    const plan = planImport(service, seen, derived, settings);
    const owner = {
      labels: ownerLabels(service),
      kinds: [SERVICE, type, ENDPOINT_SLICE],
      namespaces: [namespace],
    };
    const { errors } = await writer.apply({ owner, objects: plan.objects, signal });
    if (errors[0]) return { outcome: 'error', error: errors[0].error };
    await tellImport({ ...type, name: service }, plan.clusters, signal);
    await tellExport(key, signal);
    return SUCCESS;
  }

  async function tellImport(
    { name, ...type }: { group: string; version: string; kind: string; name: ObjectName },
    clusters: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    if (clusters.length === 0) return;
    const live = await local.client.get<ServiceImport>(type, name, { signal });
    if (!live) return;
    const status = { clusters: clusters.map((cluster) => ({ cluster })) };
    await writeStatus(local.client, live, (old) => ({ ...old, ...status }), signal);
  }

  async function tellExport(key: string, signal: AbortSignal): Promise<void> {
    const all = set.seen(key).exported;
    const own = all.find(({ cluster }) => cluster === local.name);
    if (!own) return;
    const planned = exportConditions(own, all);
    const statusOf = (old: ServiceExport['status']) => ({
      ...old,
      conditions: mergeConditions(old?.conditions, planned, new Date()),
    });
    await writeStatus(local.client, own.export, statusOf, signal);
  }

  return {
    wake: (key) => wake?.(key),
    async work(signal) {
      const controller = createController({ name: 'import', log, reconcile });
      wake = controller.enqueue;
      controller.start();
      for (const key of set.keys()) controller.enqueue(key);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      wake = undefined;
      await controller.stop();
    },
  };
}
