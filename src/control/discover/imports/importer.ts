/** Makes what other clusters export reachable in this one, and this one's exports in others. One replica does it. */
import { createWriter } from '../../../kube/write/apply.ts';
import type { Summary } from '../../../kube/write/apply.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { mergeConditions } from '../../../kube/write/conditions.ts';
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import { SUCCESS, createController } from '../../../kube/controller/controller.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { apiVersionOf, nameOfKey } from '../../../kube/object.ts';
import type { ObjectName, ResourceType } from '../../../kube/object.ts';
import { writeStatus } from '../../../kube/write/status.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { ClusterSet } from '../members/cluster-set.ts';
import type { ServiceName } from '../records/mcs-records.ts';
import type { SeenService } from '../records/export-records.ts';
import { companionLabels, exportConditions, isExportCondition, planOffer } from './export-plan.ts';
import { derivedName, importStatus, ownerLabels, planImport } from './import-plan.ts';
import type { ImportPlan } from './import-plan.ts';
import { SOURCE_CLUSTER_LABEL } from '../names.ts';
import type { Reach } from '../members/nodes.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';
import type { ServiceExport, ServiceImport } from '../objects.ts';

export interface ImporterOptions {
  local: Cluster;
  set: ClusterSet;
  /** How the other clusters reach this one. */
  reach: Reach;
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
/** A service is imported where its namespace is; nobody says when one is made. */
const NAMESPACE_AGAIN_MS = 15_000;

export function createImporter({ local, set, reach, log }: ImporterOptions): Importer {
  const writer = createWriter(() => ({ client: local.client }), SIGNATURE);
  let wake: ((key: string) => void) | undefined;

  /** The clusters that had a part in the service when it was last written. */
  function sourcesOf({ imported, importedSlices }: SeenService): string[] {
    const sources = importedSlices.flatMap(({ metadata }) => metadata.labels?.[SOURCE_CLUSTER_LABEL] ?? []);
    return [...sources, ...(imported?.status?.clusters ?? []).map(({ cluster }) => cluster)];
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { namespace = '', name } = nameOfKey(key);
    const outcome = await importService(key, { namespace, name }, signal);
    await tellExport(key, { namespace, name }, signal);
    return outcome;
  }

  async function importService(key: string, service: ServiceName, signal: AbortSignal): Promise<Outcome> {
    const { namespace } = service;
    const type = set.imports.current?.type;
    const seen = set.seen(key);
    const sources = sourcesOf(seen);
    // Without the clusters that had a part in it, of which nothing is known now, it must not be touched.
    if (!type || set.unknown(sources).length > 0) return SUCCESS;
    const derived = set.local.services.get(`${namespace}/${derivedName(service)}`);
    const settings = { local: set.localId, apiVersion: apiVersionOf(type) };
    const plan = planImport(service, seen, derived, settings);
    // Whose it is may not have been written down yet: it is taken out only when it can be nobody's.
    if (plan.objects.length === 0 && sources.length === 0 && !set.isComplete) return SUCCESS;
    const kinds = [SERVICE, type, ENDPOINT_SLICE];
    const owner = { labels: ownerLabels(service), kinds, namespaces: [namespace] };
    const { errors } = await writer.apply({ owner, objects: plan.objects, signal });
    const refused = errors.find(({ error }) => hasStatus(error, 422) || hasStatus(error, 403));
    await tellImport({ ...type, name: service }, plan, refused && refusal(messageOf(refused.error)), signal);
    return outcomeOf(errors);
  }

  async function tellImport(
    { name, ...type }: ResourceType & { name: ObjectName },
    { clusters, ready }: ImportPlan,
    refused: PlannedCondition | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (clusters.length === 0) return;
    const live = await local.client.get<ServiceImport>(type, name, { signal });
    if (!live) return;
    const statusOf = (old: ServiceImport['status']) =>
      importStatus(old, clusters, refused ?? ready, new Date());
    await writeStatus(local.client, live, statusOf, signal);
  }

  /** Gives this cluster's own export the node ports by which it is reached, and says what is to be said of it. */
  async function tellExport(
    key: string,
    { namespace, name }: ServiceName,
    signal: AbortSignal,
  ): Promise<void> {
    const all = set.seen(key).exported;
    const own = all.find(({ cluster }) => cluster === set.localId);
    const offer = planOffer(own, reach);
    const objects = 'companion' in offer && offer.companion ? [offer.companion] : [];
    if (objects.length > 0 || set.local.companionsOf(key).length > 0) {
      const owner = { labels: companionLabels(name), kinds: [SERVICE], namespaces: [namespace] };
      const { errors } = await writer.apply({ owner, objects, signal });
      if (errors[0]) throw errors[0].error;
    }
    if (!own) return;
    const planned = exportConditions(own, all, offer);
    const statusOf = (old: ServiceExport['status']) => ({
      ...old,
      conditions: mergeConditions(old?.conditions, planned, new Date(), isExportCondition),
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

/** What the cluster refuses to hold: addresses of a family that it does not have, or more than a quota allows. */
function refusal(message: string): PlannedCondition {
  const reason = /ipFamil|IPv[46]/.test(message) ? 'IPFamilyNotSupported' : 'Pending';
  return { type: 'Ready', status: 'False', reason, message };
}

function outcomeOf(errors: Summary['errors']): Outcome {
  const [first] = errors;
  if (!first) return SUCCESS;
  if (errors.every(({ error }) => hasStatus(error, 404)))
    return { outcome: 'lookAgain', afterMs: NAMESPACE_AGAIN_MS };
  return { outcome: hasStatus(first.error, 422) ? 'terminal' : 'error', error: first.error };
}
