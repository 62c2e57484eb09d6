/** What the planner of Redpanda clusters makes of a golden scenario: every object as it would be applied, with its files as what they say. */
import { parse } from 'yaml';
import {
  BOOTSTRAP_ANNOTATION,
  REVISION_ANNOTATION,
  ROLL_ANNOTATION,
} from '../../../src/control/redpanda/names.ts';
import type { Observed } from '../../../src/control/redpanda/observe.ts';
import { isManaged } from '../../../src/control/redpanda/front/cluster.ts';
import { planRedpanda } from '../../../src/control/redpanda/plan.ts';
import type { RedpandaPlan } from '../../../src/control/redpanda/plan.ts';
import { NODE_ANNOTATIONS } from '../../../src/control/shared/node-annotations.ts';
import { NOTHING_LEARNED } from '../../../src/control/kernel/reconcile.ts';
import { read } from '../../../src/control/kernel/read.ts';
import { canonicalJson } from '../../../src/kube/json.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { redpandaCluster } from '../../../src/resources/redpanda/cluster.ts';
import type { InputDocument } from '../golden/input.ts';
import type { Json } from '../golden/patch.ts';
import type { Planned } from '../golden/suite.ts';
import { OPEN_NAMES } from '../control/redpanda.ts';

const NAMESPACE = 'redpanda';
/** Annotations that are digests of other parts of an object. */
const DIGESTS = new Set([REVISION_ANNOTATION, BOOTSTRAP_ANNOTATION]);

export async function planRedpandaScenario(
  input: readonly InputDocument[],
  former: readonly InputDocument[],
): Promise<Planned> {
  const before = former.length > 0 ? setIn(planOf(former, undefined)) : undefined;
  const plan = planOf(input, before);
  const after = setIn(plan);
  const again = planOf(input, after ? { ...before, ...after } : before);
  const isSame = canonicalJson(again.targets) === canonicalJson(plan.targets);
  const objects = plan.targets.flatMap((target) => target.objects);
  return {
    outcome: {
      names: {},
      sections: {
        objects: titled(objects.map((object) => [`${object.kind} ${object.metadata.name}`, shown(object)])),
        statuses: titled(plan.statuses.map(({ kind, name, status }) => [`${kind} ${name}`, status])),
      },
    },
    changesInTheEnd: isSame ? 0 : 1,
  };
}

/** In a cluster that has this StatefulSet, whose brokers have run, and no pods at the moment. */
function planOf(documents: readonly InputDocument[], statefulSet: AnyObject | undefined): RedpandaPlan {
  const found = documents.find(({ kind }) => kind === 'Cluster') as AnyObject;
  const metadata = { namespace: NAMESPACE, uid: 'uid', generation: 1, ...found.metadata };
  const object: AnyObject = { ...found, metadata };
  const { resource, problem } = isManaged(object) ? read(redpandaCluster, object) : {};
  const { namespace, name } = metadata;
  const { places = false } = (documents.find(({ kind }) => kind === 'Scenario') ?? {}) as Surroundings;
  const exposed = places ? placed(name, resource?.spec.replicas ?? 0) : undefined;
  const observed: Observed = {
    namespace,
    name,
    cluster: resource,
    problem,
    generation: 1,
    statefulSet,
    pods: exposed?.pods ?? [],
    externalService: exposed?.service,
    anchor: undefined,
    hasAnchors: true,
    otherHostPorts: new Set(),
    dnsEndpoint: undefined,
    dns: 'present',
    names: OPEN_NAMES,
    acted: undefined,
    now: Date.UTC(2026, 10, 1),
  };
  return planRedpanda(
    observed,
    { clusterDomain: 'cluster.local', operator: { namespace: 'isthmus-system', labels: { app: 'isthmus' } } },
    NOTHING_LEARNED,
  );
}

/** What a scenario says of the world around the cluster. */
interface Surroundings {
  /** Whether its Service was given a port, and its pods run on nodes that have addresses of both families. */
  places?: boolean;
}

function placed(name: string, replicas: number): { service: AnyObject; pods: AnyObject[] } {
  const addressesOf = (id: number) =>
    [`192.0.2.${id}`, `2001:db8::${id}`].map((address) => ({ type: 'ExternalIP', address }));
  const pods = Array.from({ length: replicas }, (_, id): AnyObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${id}`,
      namespace: NAMESPACE,
      annotations: {
        [NODE_ANNOTATIONS.address]: addressesOf(id)[0]!.address,
        [NODE_ANNOTATIONS.addresses]: JSON.stringify(addressesOf(id)),
      },
    },
    spec: { nodeName: `node-${id}` },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }));
  const metadata = { name: `${name}-external`, namespace: NAMESPACE };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ nodePort: 31_234 }] } };
  return { service, pods };
}

function setIn({ targets }: RedpandaPlan): AnyObject | undefined {
  const set = targets.flatMap(({ objects }) => objects).find(({ kind }) => kind === 'StatefulSet');
  if (!set) return undefined;
  const annotations = { ...set.metadata.annotations, [ROLL_ANNOTATION]: '{"hasRun":true}' };
  return { ...set, metadata: { ...set.metadata, uid: 'uid-of-set', annotations } };
}

/** As it is worth reading. */
function shown(object: AnyObject): AnyObject {
  if (object.kind !== 'ConfigMap') return object;
  const files = Object.entries(object['data'] as Record<string, string>).map(([name, text]) => [
    name,
    name.endsWith('.yaml') ? (parse(text) as unknown) : text,
  ]);
  return { ...object, data: Object.fromEntries(files) as object };
}

function titled(entries: readonly (readonly [string, unknown])[]): Record<string, Json> {
  const section = Object.fromEntries(entries) as Record<string, unknown>;
  const text = JSON.stringify(section, (key, value: unknown) => (DIGESTS.has(key) ? '@digest' : value));
  return JSON.parse(text) as Record<string, Json>;
}
