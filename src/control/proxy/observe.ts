/** Reads from the caches all that a plan for one proxy depends on. */
import { isBeingDeleted, keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { gateway } from '../../resources/gateway/gateway.ts';
import { referenceGrant } from '../../resources/gateway/reference-grant.ts';
import { tlsRoute } from '../../resources/gateway/tls-route.ts';
import type { Kind, Resource } from '../../resources/kind.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { filterRefsOf, kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { ingressController } from '../../resources/openshift/ingress-controller.ts';
import { route } from '../../resources/openshift/route.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { createHostIndex } from '../shared/host-index.ts';
import { CONFIG_KEY, configSecretName, deploymentName, managementSecretName } from './names.ts';
import type { Live, LivePod, Observed, ServedKinds } from './observed.ts';
import { configPartsOf } from './config/planned-config.ts';
import type { ConfigPart } from './config/planned-config.ts';
import { read } from '../kernel/read.ts';
import { policiesSeen } from '../shared/name-policy.ts';
import { addPublished } from '../shared/published-names.ts';
import type { ManagementAccesses } from './pods/management-access.ts';
import { grantsIn, hostsElsewhere } from './evaluate/other-proxies.ts';
import { keysOfKind, ownerOf, refsOfProxy } from './refs.ts';
import type { ProxyViews } from './watches.ts';
import type { View, Watched } from '../kernel/watches.ts';
import type { ClusterSnapshot, KeyedText, ProxySnapshot, Unreadable } from './snapshot.ts';

/** What a pod says about the configuration it serves, by the pod's name. */
export type PodAnswers = ReadonlyMap<string, Omit<LivePod, 'name' | 'ready'>>;

/** What is read: the caches, and what they say about the kinds that the cluster has. */
export type ProxyCaches = Pick<Watched<ProxyViews>, 'views' | 'undiscovered' | 'versionOf'>;

/** What is known of a proxy's pods that no cache tells. */
export interface PodKnowledge {
  answers: PodAnswers;
  /** Since when nothing about the pods has changed, nor about what they should serve. */
  since: number;
}

/** Everything about the proxy of that name, whether it exists or is only spoken of. */
export function observeProxy(
  caches: ProxyCaches,
  { namespace, name }: { namespace: string; name: string },
  now: number,
  accessOf: ManagementAccesses['of'],
  known: PodKnowledge = { answers: new Map(), since: now },
): Observed {
  const { views } = caches;
  const key = keyOf({ namespace, name });
  const unreadable: Unreadable[] = [];
  const resources = <R extends Resource>(kind: Kind<R>, objects: readonly AnyObject[]): R[] =>
    objects.flatMap((object) => {
      if (isBeingDeleted(object)) return [];
      const { resource, problem } = read(kind, object);
      if (problem !== undefined) unreadable.push({ object, problem });
      return resource ?? [];
    });
  const proxies = resources(kafkaProxy, present(views.proxies.get(key)));
  // In the order of their names: a cache gives them in the order in which they came, which no restart repeats.
  const ingresses = resources(kafkaProxyIngress, byName(views.ingresses.find('proxy', key)));
  const virtualClusters = resources(virtualKafkaCluster, byName(views.virtualClusters.find('proxy', key)));

  // Others' ingresses, so that who names one of them is told so.
  const named = virtualClusters.flatMap(({ spec }) => spec.ingresses.map((one) => one.name));
  const missing = new Set(named.filter((one) => !ingresses.some(({ metadata }) => metadata.name === one)));
  const others: Unreadable[] = [];
  const strangers = lookUp(kafkaProxyIngress, views.ingresses, inNamespace(namespace, missing), others);

  const filterNames = [
    ...virtualClusters.flatMap(({ spec }) => spec.filterRefs ?? []),
    ...proxies.flatMap(({ spec }) => filterRefsOf(spec)),
  ].map((ref) => ref.name);
  const filters = lookUp(kafkaProtocolFilter, views.filters, inNamespace(namespace, filterNames), others);
  const targets = virtualClusters.map(({ spec }) => spec.targetCluster.clusterRef);
  const targetNames = targets.map((ref) => ref.name);
  const clusterRefs = lookUp(kafkaClusterRef, views.clusterRefs, inNamespace(namespace, targetNames), others);
  const referred = keysIn(refsOfProxy(views, key));
  return {
    namespace,
    name,
    snapshot: {
      proxies,
      ingresses: [...ingresses, ...strangers],
      virtualClusters,
      clusterRefs,
      filters,
      ...textsOf(views, referred),
      cluster: clusterSnapshot(views, namespace, targetNames, referred, others),
      unreadable: [...unreadable, ...others],
    },
    unreadable,
    live: liveOf(
      caches,
      { namespace, name },
      known.answers,
      ingresses.some(({ spec }) => spec.gateway ?? spec.loadBalancer),
    ),
    managementAccess: accessOf(key, managementSecretOf(views, { namespace, name })),
    now,
    podsSince: known.since,
  };
}

/** The Secret with what it takes to ask a proxy's pods. */
export const managementSecretOf = (
  { configSecrets }: ProxyViews,
  { namespace, name }: { namespace: string; name: string },
) => configSecrets.get(keyOf({ namespace, name: managementSecretName(name) }));

const present = <T>(one: T | undefined): T[] => (one === undefined ? [] : [one]);

const inNamespace = (namespace: string, names: Iterable<string>) =>
  [...new Set(names)].map((name) => `${namespace}/${name}`);

/** Resources of a kind that others are responsible for. One that cannot be read is only told of. */
function lookUp<R extends Resource>(
  kind: Kind<R>,
  view: View,
  keys: readonly string[],
  unreadable: Unreadable[],
): R[] {
  return keys.flatMap((key) => {
    const object = view.get(key);
    if (!object || isBeingDeleted(object)) return [];
    const { resource, problem } = read(kind, object);
    if (problem !== undefined) unreadable.push({ object, problem });
    return resource ?? [];
  });
}

/** The Secrets and ConfigMaps among references. */
export function readTexts(views: ProxyViews, refs: readonly string[]): Texts {
  return textsOf(views, keysIn(refs));
}

type Texts = Pick<ProxySnapshot, 'secrets' | 'configMaps'>;

function textsOf(views: ProxyViews, referred: Referred): Texts {
  return {
    secrets: texts(views.secrets, referred('Secret'), fromBase64),
    configMaps: texts(views.configMaps, referred('ConfigMap'), (text) => text),
  };
}

type Referred = (kind: string) => string[];

const keysIn =
  (refs: Iterable<string>): Referred =>
  (kind) =>
    keysOfKind(kind, refs);

function texts(view: View, keys: readonly string[], decode: (text: string) => string): KeyedText[] {
  return keys.flatMap((key) => {
    const object = view.get(key);
    if (!object || isBeingDeleted(object)) return [];
    const { name, namespace = '' } = object.metadata;
    const entries = Object.entries((object['data'] ?? {}) as Record<string, string>);
    const data = Object.fromEntries(entries.map(([entry, text]) => [entry, decode(text)]));
    const base64 = object.kind === 'Secret' && { base64: object['data'] as Record<string, string> };
    return [{ metadata: { name, namespace }, data, ...base64 }];
  });
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8');

/** A list is there if its kind is. */
function clusterSnapshot(
  views: ProxyViews,
  namespace: string,
  targets: readonly string[],
  referred: Referred,
  unreadable: Unreadable[],
): ClusterSnapshot {
  const { kafkas, nodePools, grants, gateways, ingressControllers } = views;
  const kafkaKeys = inNamespace(namespace, targets);
  const namespaceLabels = views.namespaces.get(namespace)?.metadata.labels;
  // Few enough to take all that are in the way.
  const grantsTo = new Set(
    [...referred('Secret'), ...referred('ConfigMap')].map((key) => key.split('/')[0]!),
  );
  grantsTo.delete(namespace);
  return {
    ...(kafkas && { kafkas: lookUp(kafka, kafkas, kafkaKeys, unreadable) }),
    ...(nodePools && {
      nodePools: kafkaKeys.flatMap((key) => {
        const keys = nodePools.find('kafka', key).map(({ metadata }) => keyOf(metadata));
        return lookUp(kafkaNodePool, nodePools, keys.toSorted(), unreadable);
      }),
    }),
    ...(grants && {
      grants: [...grantsTo].flatMap((other) =>
        grants.list(other).flatMap((object) => read(referenceGrant, object).resource ?? []),
      ),
    }),
    ...(gateways && { gateways: lookUp(gateway, gateways, referred('Gateway'), unreadable) }),
    ...(ingressControllers && {
      ingressControllers: lookUp(
        ingressController,
        ingressControllers,
        referred('IngressController'),
        unreadable,
      ),
    }),
    ...(namespaceLabels && { namespaceLabels }),
  };
}

function liveOf(
  caches: ProxyCaches,
  { namespace, name }: { namespace: string; name: string },
  answers: PodAnswers,
  hasHosts: boolean,
): Live {
  const { views } = caches;
  const key = keyOf({ namespace, name });
  const secret = views.configSecrets.get(keyOf({ namespace, name: configSecretName(name) }));
  const deployment = views.deployments.get(keyOf({ namespace, name: deploymentName(name) }));
  const { replicas = 0 } = (deployment?.['status'] ?? {}) as { replicas?: number };
  const policies = policiesSeen(views.namePolicies?.list() ?? [], caches.undiscovered.has('namePolicies'));
  const owned = <R extends Resource>(kind: Kind<R>, view: View | undefined): R[] =>
    byName(view?.find('proxy', key) ?? []).flatMap((object) => read(kind, object).resource ?? []);
  return {
    kinds: servedKinds(caches),
    services: byName(views.services.find('proxy', key)),
    routes: owned(route, views.routes),
    tlsRoutes: owned(tlsRoute, views.tlsRoutes),
    ...policies,
    namespaceLabels: views.namespaces.get(namespace)?.metadata.labels ?? {},
    grantsBeside: views.proxies
      .list(namespace)
      .flatMap((one) => (keyOf(one.metadata) === key ? [] : grantsIn(one))),
    hostsElsewhere: hasHosts ? hostsOfOthers(views, key, policies) : createHostIndex(),
    configParts: secret ? partsOfSecret(secret) : new Map(),
    replicas,
    pods: livePods(views.pods.find('proxy', key), answers),
  };
}

/** Of other proxies, and of brokers that are reached from outside. */
const hostsOfOthers = (views: ProxyViews, key: string, policies: ReturnType<typeof policiesSeen>) =>
  addPublished(
    hostsElsewhere(views, key),
    // Who has those of proxies, their statuses say.
    (views.dnsEndpoints?.list() ?? []).filter((one) => ownerOf(one).length === 0),
    policies,
    (namespace) => views.namespaces.get(namespace)?.metadata.labels ?? {},
  );

function servedKinds({ views, undiscovered, versionOf }: ProxyCaches): ServedKinds {
  return {
    route: views.routes !== undefined,
    gateway: views.gateways !== undefined,
    tlsRoute: versionOf('tlsRoutes'),
    dnsEndpoint: views.dnsEndpoints !== undefined,
    podMonitor: views.podMonitors !== undefined,
    undiscovered,
  };
}

const partsRead = new WeakMap<AnyObject, ReadonlyMap<string, ConfigPart>>();

/** Read once for each version of the Secret: it is by far the largest thing here. */
function partsOfSecret(secret: AnyObject): ReadonlyMap<string, ConfigPart> {
  const { [CONFIG_KEY]: text = '' } = (secret['data'] ?? {}) as Record<string, string>;
  const parts = partsRead.get(secret) ?? configPartsOf(fromBase64(text));
  partsRead.set(secret, parts);
  return parts;
}

const byName = <T extends KubeObject>(objects: readonly T[]): T[] =>
  objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

interface PodStatus {
  conditions?: { type: string; status: string }[];
}

/** Pods, with what they answered. */
export function livePods(pods: readonly AnyObject[], answers: PodAnswers): LivePod[] {
  return byName(pods).flatMap((pod) => livePod(pod, answers));
}

function livePod(pod: AnyObject, answers: PodAnswers): LivePod[] {
  const { metadata, status } = pod;
  if (isBeingDeleted(pod)) return [];
  const { conditions = [] } = (status ?? {}) as PodStatus;
  const ready = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return [{ name: metadata.name, ready, ...answers.get(metadata.name) }];
}
