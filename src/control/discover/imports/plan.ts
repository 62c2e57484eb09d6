/** Plans everything that one exported service needs in the local cluster: its import, and its own export. Pure. */
import { apiVersionOf } from '../../../kube/object.ts';
import type { AnyObject, KubeObject, ResourceType } from '../../../kube/object.ts';
import { referenceOf } from '../../../kube/write/apply-decision.ts';
import { serviceImport } from '../../../resources/multicluster/service-import.ts';
import { LOCAL } from '../../kernel/plan.ts';
import type { Plan, PlannedStatus, Target } from '../../kernel/plan.ts';
import type { ReachMode } from '../members/nodes.ts';
import { INSTALLATION_LABEL, SOURCE_CLUSTER_LABEL } from '../names.ts';
import { ENDPOINT_SLICE, SERVICE } from '../objects.ts';
import type { Service, ServiceName } from '../objects.ts';
import type { ObservedService } from '../observe.ts';
import { placeOf } from '../placement.ts';
import type { ImportNamespace } from '../placement.ts';
import { nodePortLabels, planExport } from './export-plan.ts';
import { ownerLabels, planImport } from './import-plan.ts';
import { exportStatus, importStatus, refusedCondition } from './status.ts';

/** What the plan of one exported service depends on. */
export interface ObservedImport {
  service: ServiceName;
  observed: ObservedService;
  /** The derived Service. */
  derived: Service | undefined;
  /** Whether a NodePort Service was made for the local export. */
  hasNodePortService: boolean;
  /** The version of ServiceImport; undefined if the cluster does not have the kind. */
  importVersion: string | undefined;
  localId: string;
  importNamespace?: ImportNamespace;
  /** Whether the namespace that it is imported into exists. */
  hasNamespace: boolean;
  /** The other clusters that do not have the namespace of the service. */
  lackNamespace: readonly string[];
  /** The namespace of this installation, by which it knows what it has made; it marks nothing if undefined. */
  installation: string | undefined;
  /** Whether clients here are led to this cluster alone where it has ready endpoints. */
  preferLocal: boolean;
  /** How the other clusters reach this one. */
  reach: ReachMode;
  /** Whether every cluster of the set has been read. */
  isComplete: boolean;
  /** Whether a cluster that contributes to the import has not been read. */
  hasUnknownSource: boolean;
}

interface Part {
  targets: Target[];
  statuses: PlannedStatus[];
}

const NOTHING: Part = { targets: [], statuses: [] };

/** `denied` has the objects that the API server has refused, by reference, and why. */
export function planService(seen: ObservedImport, denied: ReadonlyMap<string, string>): Plan {
  const parts = [importPart(seen, denied), exportPart(seen)];
  const targets = parts.flatMap((part) => part.targets);
  return {
    persist: [],
    targets: targets.map((target) => marked(target, seen.installation)),
    actions: [],
    statuses: parts.flatMap(({ statuses }) => statuses),
    lookAgainInMs: undefined,
  };
}

function importPart(seen: ObservedImport, denied: ReadonlyMap<string, string>): Part {
  const { service, observed, derived, importVersion, localId, importNamespace, preferLocal } = seen;
  // An import must not be changed while a cluster that contributes to it has not been read.
  if (importVersion === undefined || seen.hasUnknownSource || !seen.hasNamespace) return NOTHING;
  const type = { group: serviceImport.group, version: importVersion, kind: serviceImport.kind };
  const settings = { local: localId, apiVersion: apiVersionOf(type), importNamespace, preferLocal };
  const { objects, clusters, ready } = planImport(service, observed, derived, settings);
  // Its source clusters may not have been written to the status yet: it is deleted only when all clusters have been read.
  if (objects.length === 0 && sourcesOf(observed).length === 0 && !seen.isComplete) return NOTHING;
  const place = placeOf(service, importNamespace);
  const labels = ownerLabels(service, importNamespace);
  const target = targetOf(place, labels, objects, [SERVICE, type, ENDPOINT_SLICE]);
  if (clusters.length === 0) return { targets: [target], statuses: [] };
  const refusal = objects.map((object) => denied.get(referenceOf(object))).find((one) => one !== undefined);
  const condition = refusal === undefined ? ready : refusedCondition(refusal);
  const status = importStatus(observed.imported?.status, clusters, condition);
  return {
    targets: [target],
    statuses: [{ kind: type.kind, ...place, status, keepsRest: true, ownConditions: [condition.type] }],
  };
}

/** The NodePort Service and the status of the local cluster's own export. */
function exportPart(seen: ObservedImport): Part {
  const { service, observed, localId, reach, hasNodePortService } = seen;
  const own = observed.exported.find(({ cluster }) => cluster === localId);
  const plan = planExport(own, reach);
  const objects = 'nodePortService' in plan && plan.nodePortService ? [plan.nodePortService] : [];
  const target = targetOf(service, nodePortLabels(service.name), objects, [SERVICE]);
  const status = own && exportStatus(own, observed.exported, plan, seen.lackNamespace);
  return {
    targets: objects.length > 0 || hasNodePortService ? [target] : [],
    statuses: status ? [{ kind: own.export.kind, ...service, ...status, keepsRest: true }] : [],
  };
}

/** The target with objects that say which installation made them. */
function marked(target: Target, installation: string | undefined): Target {
  if (installation === undefined) return target;
  const mark = { [INSTALLATION_LABEL]: installation };
  const objects = target.objects.map((object) => {
    const { metadata } = object;
    return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...mark } } };
  });
  return { ...target, objects };
}

function targetOf(
  { namespace }: ServiceName,
  labels: Record<string, string>,
  objects: readonly KubeObject[],
  kinds: readonly ResourceType[],
): Target {
  const wanted = objects as readonly AnyObject[];
  return { cluster: LOCAL, labels, namespaces: [namespace], objects: wanted, prune: true, kinds };
}

/** The clusters that contributed to the import when it was last written. */
export function sourcesOf({ imported, importedSlices }: ObservedService): string[] {
  const sources = importedSlices.flatMap(({ metadata }) => metadata.labels?.[SOURCE_CLUSTER_LABEL] ?? []);
  return [...sources, ...(imported?.status?.clusters ?? []).map(({ cluster }) => cluster)];
}
