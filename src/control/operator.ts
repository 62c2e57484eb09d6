import { createCluster } from '../kube/cluster.ts';
import type { Cluster } from '../kube/cluster.ts';
import { loadConnection } from '../kube/http/kubeconfig.ts';
import type { Election } from '../kube/controller/lease.ts';
import { messageOf } from '../ops/errors.ts';
import { createHealth } from '../ops/health.ts';
import type { Log } from '../ops/log.ts';
import { serveManagement } from '../ops/management.ts';
import { createMetrics, metricsText } from '../ops/metrics.ts';
import type { Metrics } from '../ops/metrics.ts';
import { VERSION } from '../ops/version.ts';
import { OPERATOR_COMPONENT, OPERATOR_NAME, selectorOf } from './install/objects.ts';
import { STRETCH_RIGHTS, VANTAGE_RIGHTS, worksElsewhere } from './install/rbac.ts';
import type { CertificateTimes } from './brokers/certificates/policy.ts';
import type { Promises } from './brokers/expose/promised.ts';
import { followExternalDns } from './brokers/probe/external-dns.ts';
import { kafkaRoad } from './brokers/road.ts';
import type { Vantages } from './brokers/vantage/reconcile.ts';
import { workAsLeader } from './kernel/leader.ts';
import type { Work } from './kernel/leader.ts';
import { LOCAL } from './kernel/plan.ts';
import { runRoad } from './kernel/road.ts';
import type { Road, RoadOptions } from './kernel/road.ts';
import { podSetRoad } from './pod-sets/road.ts';
import type { ProxyChecks } from './proxy/config/checks.ts';
import type { AskPod } from './proxy/pods/pod-client.ts';
import { proxyRoad } from './proxy/road.ts';
import { redpandaRoad } from './redpanda/road.ts';
import type { OperatorRoad } from './roads.ts';
import { reportTargets } from './targets/report.ts';
import type { TargetSettings } from './targets/settings.ts';
import { openTargets } from './targets/targets.ts';
import type { JoinedTargets } from './targets/targets.ts';

export interface OperatorOptions {
  roads: readonly OperatorRoad[];
  /** Where the leader's Lease is; $POD_NAMESPACE, then the namespace of the kubeconfig's context if left out. */
  namespace?: string | undefined;
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** Who this is among the replicas; the host's name if left out. */
  identity?: string | undefined;
  managementHost: string;
  managementPort: number;
  /** A file with the bearer token that /metrics takes; without one it is for this machine alone. */
  metricsTokenFile?: string | undefined;
  log: Log;
  /** The image of proxies; the operator's own if left out. */
  proxyImage?: string | undefined;
  /** The domain of the cluster's Services; `cluster.local` if left out. */
  clusterDomain?: string | undefined;
  /** By version of Kafka: another image than the official one. */
  kafkaImages?: Readonly<Record<string, string>> | undefined;
  /** The DNS server that clients outside use, for probes of exposed brokers; the machine's own if left out. */
  probeResolver?: string | undefined;
  /** Networks of loopback, link-local and metadata addresses that are probed all the same; none if left out. */
  probeNetworks?: readonly string[] | undefined;
  /** Joined clusters from which exposed brokers are looked at, too; none if left out. */
  probeFrom?: readonly string[] | undefined;
  /** Where external-dns tells its metrics, by HTTP; they are not read if left out. */
  externalDnsMetrics?: string | undefined;
  /** What the environment says of other clusters; nothing if left out. Those that were joined are found by their Secrets. */
  targets?: TargetSettings | undefined;
  /** How long certificates of Kafka clusters live, whatever their resources say: for tests. */
  certificateTimes?: CertificateTimes | undefined;
  /** npm packages that filters of all proxies may come from. */
  filterModules?: readonly string[] | undefined;
  /** Where to look for resources and what they refer to; everywhere if there are none. */
  watchNamespaces?: readonly string[] | undefined;
  /** The proxy's own checks of what it is to be given. */
  checks?: ProxyChecks | undefined;
  /** How pods are asked what they serve; over HTTP if left out. */
  askPod?: AskPod | undefined;
}

export interface Operator {
  readonly managementPort: number;
  stop(): Promise<void>;
}

/** Starts the control plane: takes part in the election, and works the roads while it leads. */
export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { log, roads } = options;
  const connection = loadConnection({ file: options.kubeconfig, context: options.context });
  const cluster = createCluster({ name: options.targets?.central ?? LOCAL, connection, log });
  const namespace = options.namespace ?? process.env.POD_NAMESPACE ?? connection.namespace;
  const metrics = createMetrics();
  const targets = targetsOf({ ...options, namespace }, cluster);
  const promised: Promises = new Map();
  const health = createHealth();
  health.ready('kubernetes', () => {
    const reach = cluster.reachability;
    return reach.state === 'reachable' ? undefined : `the API server is ${reach.state}`;
  });
  const management = await serveManagement({
    host: options.managementHost,
    port: options.managementPort,
    metricsTokenFile: options.metricsTokenFile,
    health,
    metrics: async () => metricsText([await metrics.snapshot()]),
  });
  log.info({ roads }, 'roads are served while this replica leads');
  const election = workAsLeader({
    cluster,
    namespace,
    name: OPERATOR_NAME,
    identity: options.identity,
    work: [
      ...roads.map((road) =>
        workOf(road, { ...options, namespace }, { cluster, targets, metrics, promised }),
      ),
      ...externalDnsWork(options, metrics),
      ...(targets ? [(signal: AbortSignal) => targets.watch(signal)] : []),
    ],
    log,
  });
  reportLeadership(metrics, election);
  reportRequests(metrics, cluster);
  if (targets) reportTargets(targets, metrics);
  return {
    managementPort: management.port,
    async stop() {
      await election.stop();
      await (targets ?? cluster).stop();
      await management.close();
    },
  };
}

/** What the roads work with. */
interface Surroundings {
  cluster: Cluster;
  /** Of a road that works in other clusters, too. */
  targets: JoinedTargets | undefined;
  metrics: Metrics;
  /** Names of brokers that roads have given out. */
  promised: Promises;
}

/** The clusters that roads of this operator work in; undefined if that is this one alone. */
function targetsOf(
  { roads, namespace = '', targets, probeFrom = [], log }: OperatorOptions,
  local: Cluster,
): JoinedTargets | undefined {
  if (!worksElsewhere(roads)) return undefined;
  const settings = targets ?? { remotes: [], isStretching: true };
  const needs = { stretch: STRETCH_RIGHTS, ...(probeFrom.length > 0 && { probe: VANTAGE_RIGHTS }) };
  return openTargets({ local, namespace, settings, needs, probeFrom, log });
}

/** The clusters that exposed brokers are looked at from. */
function vantagesOf(
  { probeFrom: names = [] }: OperatorOptions,
  targets: JoinedTargets | undefined,
): Vantages | undefined {
  if (!targets || names.length === 0) return undefined;
  const placeOf = (name: string) => {
    if (!targets.roadsOf(name).includes('probe'))
      return { problem: 'this cluster is not joined for that; `isthmus join --roads probe` does it' };
    try {
      return { client: targets.clusters.get(name).client, namespace: targets.homeOf(name) };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  };
  return { names, placeOf };
}

function workOf(road: OperatorRoad, options: OperatorOptions, surroundings: Surroundings): Work {
  const { cluster, targets, metrics } = surroundings;
  const { log, watchNamespaces: namespaces = [] } = options;
  const common = { cluster, namespaces, log, metrics };
  const works: Record<OperatorRoad, () => Work> = {
    proxy: () => workOn(proxyRoadOf(options, cluster), common),
    kafka: () =>
      workOn(kafkaRoadOf(options, surroundings), {
        ...common,
        elsewhere: targets && { ...targets, clusters: targets.clustersFor('stretch') },
      }),
    redpanda: () => workOn(redpandaRoadOf(options, surroundings), common),
    'pod-sets': () =>
      workOn(
        podSetRoad(() => cluster.client),
        common,
      ),
  };
  return works[road]();
}

/** Whose errors say why names of brokers do not change. */
function externalDnsWork({ roads, externalDnsMetrics: url, log }: OperatorOptions, metrics: Metrics): Work[] {
  const isExposing = roads.includes('kafka') || roads.includes('redpanda');
  return url !== undefined && isExposing ? [followExternalDns({ url, metrics, log })] : [];
}

function workOn<V extends object, R extends object>(road: Road<V, R>, options: RoadOptions): Work {
  return (signal) => runRoad(road, options, signal);
}

function kafkaRoadOf(options: OperatorOptions, { cluster, targets, metrics, promised }: Surroundings) {
  const { clusterDomain = 'cluster.local', kafkaImages = {}, certificateTimes, namespace, log } = options;
  const settings = {
    clusterDomain,
    images: kafkaImages,
    ownImage: ownImage(options.proxyImage),
    certificateTimes,
    holder: namespace ?? LOCAL,
    operator: ownPods(),
    centralId: options.targets?.central,
    networkPolicies: options.targets?.networkPolicies,
    probeResolver: options.probeResolver,
    probeNetworks: options.probeNetworks,
  };
  const vantages = vantagesOf(options, targets);
  return kafkaRoad({ settings, vantages, promised, client: () => cluster.client, metrics, log });
}

function redpandaRoadOf(options: OperatorOptions, { cluster, metrics, promised }: Surroundings) {
  const { clusterDomain = 'cluster.local', probeResolver, probeNetworks, log } = options;
  const settings = { clusterDomain, operator: ownPods(), probeResolver, probeNetworks };
  return redpandaRoad({ settings, promised, client: () => cluster.client, metrics, log });
}

/** The image that this program is in. */
const ownImage = (chosen: string | undefined) => chosen ?? process.env.ISTHMUS_IMAGE ?? `isthmus:${VERSION}`;

/** Its version; of another image it is not known. */
const imageVersion = (chosen: string | undefined) =>
  ownImage(chosen) === ownImage(undefined) ? VERSION : undefined;

/** The operator's own pods, as NetworkPolicies name them; unknown where it runs outside of a cluster. */
function ownPods() {
  const namespace = process.env.POD_NAMESPACE;
  return namespace === undefined ? undefined : { namespace, labels: selectorOf(OPERATOR_COMPONENT) };
}

function proxyRoadOf(
  { proxyImage, clusterDomain = 'cluster.local', filterModules = [], checks, askPod }: OperatorOptions,
  cluster: Cluster,
) {
  const settings = {
    image: ownImage(proxyImage),
    version: imageVersion(proxyImage),
    clusterDomain,
    filterModules,
    operator: ownPods(),
  };
  return proxyRoad({ settings, client: () => cluster.client, checks, askPod });
}

function reportLeadership(metrics: Metrics, election: Election): void {
  const leader = metrics.gauge('isthmus_operator_leader', '1 on the replica that leads.').of();
  metrics.beforeReport(() => (leader.value = election.isLeader() ? 1 : 0));
}

function reportRequests(metrics: Metrics, cluster: Cluster): void {
  const requests = metrics.counter(
    'isthmus_operator_api_requests_total',
    'Requests to the API server, by verb',
  );
  metrics.beforeReport(() => {
    for (const [verb, count] of Object.entries(cluster.client.counts)) requests.of({ verb }).value = count;
  });
}
