/** Whether brokers that are to be reached from outside can be. Pure. */
import type { CheckResult, Facts } from './facts.ts';
import type { ExposeFacts, NetworkSeen } from './expose-facts.ts';
import { exposedListeners, exposedRedpandas } from './exposed-listeners.ts';
import type { ExposedListener } from './exposed-listeners.ts';
import { keptPortChecks } from './kept-ports.ts';
import { outsideChecks } from './outside-checks.ts';
import { publisherChecks } from './publisher-checks.ts';
import { fail, fine, known, verdict, warn } from './results.ts';

export function exposeChecks(facts: Facts): CheckResult[] {
  const { expose, resources } = facts;
  if (!expose) return [];
  return known('kafkas can be read', resources.get('Kafka'), (kafkas) => {
    const clusters = resources.get('Cluster');
    const exposed = [
      ...exposedListeners(kafkas, 'value' in expose.pools ? expose.pools.value : []),
      ...exposedRedpandas(clusters && 'value' in clusters ? clusters.value : []),
    ];
    const kept = keptPortChecks(facts);
    if (exposed.length === 0) return [fine('no cluster has a listener for clients outside'), ...kept];
    const onNodes = exposed.filter(({ wish }) => wish.by === 'hostport');
    return [
      fine(`${exposed.length} listeners are for clients outside`),
      ...(onNodes.length > 0 ? hostPortChecks(expose, onNodes) : []),
      ...publisherChecks(facts, expose, exposed),
      ...sourceChecks(expose, exposed),
      ...outsideChecks(facts),
      ...kept,
    ];
  });
}

const hostPortChecks = (expose: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] => [
  ...nodeChecks(expose, exposed),
  ...podSecurityChecks(expose, exposed),
  ...networkChecks(expose, exposed),
  ...rangeChecks(expose, exposed),
];

function nodeChecks({ nodes }: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] {
  return known('nodes can be read', nodes, (all) => {
    const usable = all.filter(({ isSchedulable }) => isSchedulable);
    const crowded = exposed
      .filter(({ brokers }) => brokers > usable.length)
      .map(({ text, brokers }) => `${text}: ${brokers} brokers, and ${usable.length} nodes that take pods`);
    const missing = exposed.flatMap(({ text, wish }) => {
      const wanted = (wish.by === 'hostport' ? wish.addressType : undefined) ?? 'ExternalIP';
      const without = usable.filter(({ addressTypes }) => !addressTypes.includes(wanted));
      const names = without.map(({ name }) => name).join(', ');
      return without.length > 0 ? [`${text}: no ${wanted} at ${names}`] : [];
    });
    return [
      verdict('there is a node for each broker', crowded, fail, 'FewerNodesThanBrokers'),
      verdict('nodes have the addresses that clients are told', missing, warn, 'NodesWithoutPublicAddress'),
    ];
  });
}

const ENFORCE = 'pod-security.kubernetes.io/enforce';

function podSecurityChecks({ namespaces }: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] {
  return known('namespaces can be read', namespaces, (labels) => {
    const closed = new Map(
      exposed.flatMap(({ namespace }) => {
        const level = labels.get(namespace)?.[ENFORCE] ?? 'privileged';
        return level === 'privileged' ? [] : [[namespace, level] as const];
      }),
    );
    const problems = [...closed].map(
      ([namespace, level]) => `namespace ${namespace} has ${ENFORCE}=${level}`,
    );
    return [verdict('Pod Security lets pods have host ports', problems, fail, 'PodSecurityForbidsHostPorts')];
  });
}

const isReplacing = ({ 'kube-proxy-replacement': value = 'false' }: Readonly<Record<string, string>>) =>
  value === 'true' || value === 'strict';

/** Why the network passes a host port by; undefined if it does not, or is none of those that are known to. */
function ignored({ wish }: ExposedListener, { cilium }: NetworkSeen): string | undefined {
  if (!cilium || wish.by !== 'hostport') return undefined;
  const isChained = cilium['cni-chaining-mode'] === 'portmap';
  if (!isReplacing(cilium))
    return isChained
      ? undefined
      : 'Cilium has host ports only with kubeProxyReplacement, or with cni.chainingMode=portmap';
  return wish.strategy === 'reserve'
    ? 'Cilium in the place of kube-proxy ignores host ports among node ports; set portStrategy: range'
    : undefined;
}

/** DaemonSets of plugins that come with the plugin portmap, which forwards host ports. */
const FORWARDING = /^(kube-flannel(-ds)?|kindnet|calico-node|canal|antrea-agent|weave-net|aws-node)$/;

function networkChecks({ network }: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] {
  const description = 'the network knows host ports';
  return known('the network can be looked at', network, (seen) => {
    if (!seen.cilium && !seen.daemonSets.some((name) => FORWARDING.test(name))) {
      const names = exposed.map(({ text }) => text).join(', ');
      const why = `${names}: no network plugin is seen here that is known to forward host ports; the probe tells whether this one does`;
      return [warn(description, 'HostPortsUnknown', why)];
    }
    const problems = exposed.flatMap((one) => {
      const why = ignored(one, seen);
      return why === undefined ? [] : [`${one.text}: ${why}`];
    });
    return [verdict(description, problems, fail, 'HostPortsIgnored')];
  });
}

/** A port of ours that a Service may be given, too, leads to whoever the network asks first. */
function rangeChecks(expose: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] {
  const ranged = exposed.filter(({ wish }) => wish.by === 'hostport' && wish.strategy === 'range');
  if (ranged.length === 0) return [];
  const ranges = [...new Set(ranged.map(({ range }) => range))];
  const isOurs = (port: number) => ranges.some(({ first, last }) => port >= first && port <= last);
  const cilium = 'value' in expose.network ? expose.network.value.cilium : undefined;
  const [from, to = from] = (cilium?.['node-port-range'] ?? '').split(',').map(Number);
  const isShared =
    from !== undefined &&
    to !== undefined &&
    from > 0 &&
    ranges.some(({ first, last }) => from <= last && to >= first);
  return known('node ports of Services can be read', expose.nodePorts, (ports) => [
    verdict(
      'node ports are none of those that portStrategy range takes',
      [
        ...(isShared ? [`Cilium has node ports from ${from} to ${to}`] : []),
        ...ports
          .filter(({ port }) => isOurs(port))
          .map(({ service, port }) => `Service ${service} has node port ${port}`),
      ],
      fail,
      'NodePortRangeCollision',
    ),
  ]);
}

/** DaemonSets of plugins that enforce NetworkPolicies, also on what comes by a host port. */
const ENFORCING = /^(cilium|calico-node|canal|kube-router|antrea-agent|weave-net|ovnkube-node|azure-npm|kindnet|kube-network-policies)$/; // prettier-ignore
const FLANNEL = /^kube-flannel(-ds)?$/;

function sourceChecks({ network }: ExposeFacts, exposed: readonly ExposedListener[]): CheckResult[] {
  const limited = exposed.filter(({ wish }) => wish.by === 'hostport' && wish.allowedSources.length > 0);
  if (limited.length === 0) return [];
  const description = 'the network enforces allowedSources';
  return known(description, network, ({ daemonSets }) => {
    if (daemonSets.some((name) => ENFORCING.test(name))) return [fine(description)];
    const why = daemonSets.some((name) => FLANNEL.test(name))
      ? 'Flannel enforces no NetworkPolicy'
      : 'no network plugin is known here that enforces NetworkPolicies';
    const names = limited.map(({ text }) => text).join(', ');
    return [warn(description, 'SourcesNotEnforced', `${names}: ${why}`)];
  });
}
