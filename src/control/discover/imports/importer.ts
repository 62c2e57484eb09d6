/** Writes the objects and statuses of exported services in the local cluster. Runs in the leader. */
import type { Cluster } from '../../../kube/cluster.ts';
import { SUCCESS, createController } from '../../../kube/controller/controller.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { apiVersionOf, nameOfKey } from '../../../kube/object.ts';
import type { ObjectName, ResourceType } from '../../../kube/object.ts';
import { createWriter } from '../../../kube/write/apply.ts';
import type { Summary } from '../../../kube/write/apply.ts';
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import { writeStatus } from '../../../kube/write/status.ts';
import { aborted } from '../../../ops/abort.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { ClusterSet } from '../members/cluster-set.ts';
import type { ReachMode } from '../members/nodes.ts';
import { SOURCE_CLUSTER_LABEL, derivedName } from '../names.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';
import type { ServiceExport, ServiceImport, ServiceName } from '../objects.ts';
import { observeService } from '../observe.ts';
import type { ObservedService } from '../observe.ts';
import { nodePortLabels, planExport } from './export-plan.ts';
import { ownerLabels, planImport } from './import-plan.ts';
import type { ImportPlan } from './import-plan.ts';
import { exportConditions, exportStatus, importStatus, refusedCondition } from './status.ts';

export interface ImporterOptions {
  local: Cluster;
  set: ClusterSet;
  /** How the other clusters reach this one. */
  reach: ReachMode;
  log: Log;
}

export interface Importer {
  enqueue(key: string): void;
  /** Works until the signal is aborted. */
  work(signal: AbortSignal): Promise<void>;
}

const SIGNATURE = {
  fieldManager: 'isthmus-discover',
  hashAnnotation: 'connectivity.tanzu.vmware.com/applied',
};
/** Namespaces are not watched: an import whose namespace is missing is tried again after this time. */
const NAMESPACE_RETRY_MS = 15_000;

export function createImporter({ local, set, reach, log }: ImporterOptions): Importer {
  const writer = createWriter(() => ({ client: local.client }), SIGNATURE);
  let enqueue: ((key: string) => void) | undefined;

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { namespace = '', name } = nameOfKey(key);
    const observed = observeService(set, key);
    const outcome = await importService({ namespace, name }, observed, signal);
    await writeExport(key, { namespace, name }, signal);
    return outcome;
  }

  async function importService(
    service: ServiceName,
    observed: ObservedService,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { namespace } = service;
    const type = set.imports.current?.type;
    const sources = sourcesOf(observed);
    // An import must not be changed while a cluster that contributes to it has not been read.
    if (!type || set.unknown(sources).length > 0) return SUCCESS;
    const derived = set.local.services.get(`${namespace}/${derivedName(service)}`);
    const settings = { local: set.localId, apiVersion: apiVersionOf(type) };
    const plan = planImport(service, observed, derived, settings);
    // Its source clusters may not have been written to the status yet: it is deleted only when all clusters have been read.
    if (plan.objects.length === 0 && sources.length === 0 && !set.isComplete) return SUCCESS;
    const kinds = [SERVICE, type, ENDPOINT_SLICE];
    const owner = { labels: ownerLabels(service), kinds, namespaces: [namespace] };
    const { errors } = await writer.apply({ owner, objects: plan.objects, signal });
    const refused = errors.find(({ error }) => hasStatus(error, 422) || hasStatus(error, 403));
    const condition = refused && refusedCondition(messageOf(refused.error));
    await writeImportStatus({ ...type, name: service }, plan, condition, signal);
    return outcomeOf(errors);
  }

  async function writeImportStatus(
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

  /** Writes the NodePort Service and the status of the local cluster's own export. */
  async function writeExport(
    key: string,
    { namespace, name }: ServiceName,
    signal: AbortSignal,
  ): Promise<void> {
    const all = observeService(set, key).exported;
    const own = all.find(({ cluster }) => cluster === set.localId);
    const plan = planExport(own, reach);
    const objects = 'nodePortService' in plan && plan.nodePortService ? [plan.nodePortService] : [];
    if (objects.length > 0 || set.local.nodePortServicesOf(key).length > 0) {
      const owner = { labels: nodePortLabels(name), kinds: [SERVICE], namespaces: [namespace] };
      const { errors } = await writer.apply({ owner, objects, signal });
      if (errors[0]) throw errors[0].error;
    }
    if (!own) return;
    const planned = exportConditions(own, all, plan);
    const statusOf = (old: ServiceExport['status']) => exportStatus(old, planned, new Date());
    await writeStatus(local.client, own.export, statusOf, signal);
  }

  return {
    enqueue: (key) => enqueue?.(key),
    async work(signal) {
      const controller = createController({ name: 'import', log, reconcile });
      enqueue = controller.enqueue;
      controller.start();
      for (const key of set.keys()) controller.enqueue(key);
      await aborted(signal);
      enqueue = undefined;
      await controller.stop();
    },
  };
}

/** The clusters that contributed to the import when it was last written. */
function sourcesOf({ imported, importedSlices }: ObservedService): string[] {
  const sources = importedSlices.flatMap(({ metadata }) => metadata.labels?.[SOURCE_CLUSTER_LABEL] ?? []);
  return [...sources, ...(imported?.status?.clusters ?? []).map(({ cluster }) => cluster)];
}

function outcomeOf(errors: Summary['errors']): Outcome {
  const [first] = errors;
  if (!first) return SUCCESS;
  if (errors.every(({ error }) => hasStatus(error, 404)))
    return { outcome: 'lookAgain', afterMs: NAMESPACE_RETRY_MS };
  return { outcome: hasStatus(first.error, 422) ? 'terminal' : 'error', error: first.error };
}
