/** What `isthmus check` can find. */
import type { CodeEntry } from './entry.ts';

export const CHECKS = {
  ApiUnreachable: {
    means: 'The Kubernetes API server does not answer.',
    why: 'The address in the kubeconfig, the network, or the credentials are wrong, or the server is down.',
    cure: 'Try `kubectl version` with the same kubeconfig and context.',
  },
  ApiTooOld: {
    means: 'The API server is older than Isthmus can work with.',
    why: 'ValidatingAdmissionPolicies and what CRDs here rely on are served from Kubernetes 1.30 on.',
    cure: 'Upgrade the cluster.',
  },
  CannotLook: {
    means: 'Something could not be looked at, so nothing is known about it.',
    why: 'The user of this kubeconfig may not read it, or the server failed.',
    cure: 'Run the check as somebody who may read it; the message names the kind.',
  },
  CrdMissing: {
    means: 'The API server does not have a kind that is needed.',
    why: 'Its CRD was not applied.',
    cure: 'Apply what `isthmus install` prints; kinds of other projects come with `--crds PROJECT`.',
  },
  CrdForeign: {
    means:
      'Another project’s CRD serves this kind, and would drop fields or refuse values that Isthmus knows.',
    why: 'API servers drop fields that the schema of a CRD does not have, without a word, and refuse values that it does not list.',
    cure: 'Do without what the message names, write the annotation that it names instead, or use the CRD that `isthmus install --crds` prints.',
  },
  CrdsOfOthers: {
    means: 'CRDs of Strimzi are installed, and not by Isthmus.',
    why: 'Strimzi was installed here, or is. Applied over them, the CRDs that Isthmus prints would drop fields that only Strimzi knows.',
    cure: 'Leave `strimzi` out of `--crds` of `isthmus install`.',
  },
  CrdOutdated: {
    means: 'The CRD is of another version of Isthmus: fields are missing in it.',
    why: 'The program was upgraded and its CRDs were not.',
    cure: 'Apply what `isthmus install` of this version prints.',
  },
  InstallRightMissing: {
    means: 'You may not create something that an installation consists of.',
    why: 'CRDs, cluster roles and admission policies are for cluster administrators.',
    cure: 'Have an administrator apply what `isthmus install` prints.',
  },
  OperatorRightMissing: {
    means: 'The operator lacks a right that its roads need.',
    why: 'Its Role is of another version, was changed, or is for other roads.',
    cure: 'Apply what `isthmus install` prints for the same roads and namespaces.',
  },
  PolicyMissing: {
    means: 'An admission policy of the installation is missing or not bound.',
    why: 'It was deleted, or was not part of what was applied. Isthmus works, with less protection.',
    cure: 'Apply what `isthmus install` prints.',
  },
  OperatorMissing: {
    means: 'No operator is installed in this namespace.',
    why: 'It was not installed, or in another namespace.',
    cure: 'Name its namespace with `-n`, or apply what `isthmus install` prints.',
  },
  OperatorNotReady: {
    means: 'Pods of the operator are not ready.',
    why: 'They are starting, cannot be scheduled, cannot fetch the image, or fail.',
    cure: 'See `kubectl describe pod` and `kubectl logs` in the operator’s namespace.',
  },
  OperatorWithoutLeader: {
    means: 'No operator leads, so nothing is reconciled.',
    why: 'The Lease was not renewed in time: pods are down, or cannot reach the API server.',
    cure: 'See the logs of the operator’s pods.',
  },
  RoadNotServed: {
    means: 'There are resources of a road that the operator does not serve.',
    why: '`--roads` of the operator does not name it.',
    cure: 'Install with `--roads` including it.',
  },
  ResourceNotReady: {
    means: 'A resource is not ready.',
    why: 'Its condition says why; the code in the message is that of the reason.',
    cure: '`isthmus explain CODE` with that code, or `isthmus status KIND/NAME`.',
  },
  StatusOutdated: {
    means: 'Nobody has looked at the newest version of a resource.',
    why: 'The operator does not serve its road or its namespace, or does not run.',
    cure: 'See the operator’s checks; compare `--watch-namespaces`.',
  },
  KindNotServed: {
    means: 'An optional kind is not there; what needs it cannot be used.',
    why: 'The project that brings it is not installed.',
    cure: 'Nothing, unless you want that kind of ingress or record.',
  },
  NotDelegated: {
    means: 'The cluster’s own DNS does not lead to the zones of Isthmus.',
    why: 'The delegation is switched off, waits, was refused, or fails; the message says which.',
    cure: 'See docs/dns.md on delegation, and the events of the DNS server’s Service.',
  },
  NamePolicyMissing: {
    means:
      'Several namespaces have host names (of virtual clusters, exposed brokers, or by the DNS server), and no NamePolicy says which may be whose.',
    why: 'Without one, whoever comes first has a name, whatever it is.',
    cure: 'Apply a NamePolicy for each zone that tenants share.',
  },
  FewerNodesThanBrokers: {
    means: 'There are fewer nodes than brokers of a cluster that is exposed by host ports.',
    why: 'All brokers of a cluster have one port number, and a node has each port once.',
    cure: 'Add nodes, or have fewer brokers. A Kafka can have `type: loadbalancer` instead.',
  },
  NodesWithoutPublicAddress: {
    means: 'Nodes lack an address of the type that clients outside are to be told.',
    why: 'Without an ExternalIP the InternalIP is told, which clients outside mostly have no way to.',
    cure: 'Give the nodes public addresses, or set `preferredAddressType: InternalIP` if clients reach those. A Kafka can have `type: loadbalancer` instead.',
  },
  PodSecurityForbidsHostPorts: {
    means: 'Pods with host ports are refused in this namespace.',
    why: 'Pod Security `baseline` and `restricted` forbid host ports.',
    cure: 'Label the namespace `pod-security.kubernetes.io/enforce=privileged`. A Kafka can have `type: loadbalancer` instead.',
  },
  DNSEndpointKindMissing: {
    means: 'Brokers have names, and the kind that publishes them is not there.',
    why: 'The CRD of external-dns was not applied.',
    cure: 'Install external-dns with its CRD, or apply what `isthmus install --crds external-dns` prints.',
  },
  NobodyPublishesNames: {
    means: 'Nobody is seen who would publish the names of brokers.',
    why: 'No external-dns runs in this cluster, and no DNS server of Isthmus; one elsewhere cannot be seen.',
    cure: 'Install external-dns with the arguments in docs/expose.md, or `isthmus dns`.',
  },
  ExternalDNSPassesBy: {
    means: 'The external-dns that runs here leaves the names of brokers out.',
    why: 'Its flags lack `--source=crd`, or filter out the domain or the namespace; the message says which.',
    cure: 'Change the flag that the message names; docs/expose.md has all that are needed.',
  },
  HostPortsIgnored: {
    means: 'The network plugin does not forward the host ports of brokers.',
    why: 'Cilium in the place of kube-proxy ignores host ports among node ports, and without it those of all pods.',
    cure: 'Do as the message says: `portStrategy: range`, or a setting of the plugin. A Kafka can have `type: loadbalancer` instead.',
  },
  HostPortsUnknown: {
    means: 'Nobody knows whether the network plugin forwards the host ports of brokers.',
    why: 'None is seen here that does so as it comes. Others may: many need the plugin portmap in their configuration, and some runtimes see to it themselves.',
    cure: 'Expose brokers, and see whether `Reachable` is True: the probe takes that way. If it is not, ask who runs the network for portmap. A Kafka can have `type: loadbalancer` instead.',
  },
  NodePortRangeCollision: {
    means: 'Services have node ports among those that `portStrategy: range` takes.',
    why: 'The API server was given a range of node ports that reaches into 20000 to 29999 (of Redpanda clusters: 16000 to 19999).',
    cure: 'Use `portStrategy: reserve`, which gets its number from the API server. A Kafka can have `type: loadbalancer` instead.',
  },
  SourcesNotEnforced: {
    means: '`allowedSources` may have no effect: everybody gets to the port.',
    why: 'It becomes a NetworkPolicy, and no plugin is seen here that enforces those.',
    cure: 'Keep others out by a firewall before the nodes, or install a plugin that enforces NetworkPolicies.',
  },
  PortsKeptForDeleted: {
    means: 'Ports of nodes are kept for a cluster that is gone.',
    why: 'Clients may still know the number, and must not be led to another cluster by it; nobody but you knows when they no longer do.',
    cure: 'When no client uses it any more, delete the anchor: that sets the number free. Of a Kafka it also has the cluster id, which data that is left needs.',
  },
  JoinedClusterUnreachable: {
    means: 'The cluster that was joined does not answer, or refuses the account that was made there.',
    why: 'The address or the authority in its kubeconfig is wrong, or the network is.',
    cure: 'Correct the context, or give the address with `--server`, and join again.',
  },
  JoinedServerNotVerified: {
    means: 'Nobody checks that the API server of the joined cluster is the right one.',
    why: '`--insecure-skip-tls-verify` was given.',
    cure: 'Join again with a context that has the authority of the server.',
  },
  JoinedServerIsLocal: {
    means: 'The address of the joined cluster means something else in every pod.',
    why: 'It is a loopback address, as those of clusters on a laptop are.',
    cure: 'Join again with `--server` and an address at which pods reach it.',
  },
  JoinedClockDiffers: {
    means: 'The clock of the joined cluster is more than a minute off.',
    why: 'Tokens and certificates count from a time, and those of another clock are not valid yet, or no longer.',
    cure: 'Have both clusters, and this machine, follow the same time (NTP).',
  },
  JoinedRightsMissing: {
    means: 'The account in the joined cluster may not do something that is needed.',
    why: 'Roles that were applied do not count yet, or somebody has changed them.',
    cure: 'Join again; if that does not help, see which policy of that cluster stands against it.',
  },
  JoinedRightsTooBroad: {
    means: 'The account in the joined cluster may do more than is used.',
    why: 'Something there grants rights to all accounts, or to this one.',
    cure: 'See which binding does, with `kubectl auth can-i --list`, and whether it must.',
  },
  JoinedKindMissing: {
    means: 'The joined cluster does not have a kind that is needed there.',
    why: 'Its CRD was not applied.',
    cure: 'Join again with `--crds`.',
  },
  PodNetworksOverlap: {
    means: 'Pods of the two clusters have addresses in common, so neither can route to the other.',
    why: 'Both clusters were made with the same network for pods, which is a common default.',
    cure: 'Make one of them with another network; or reach exported services by nodes (`--reach nodes`).',
  },
  OperatorCannotReach: {
    means: 'The operator cannot use the joined cluster, though this machine can.',
    why: 'Its pods have no way to that address, or a firewall stands between.',
    cure: 'Join again with `--server` and an address at which pods reach it, or open the way.',
  },
  OperatorSaysNothing: {
    means: 'The operator has not said anything about the joined cluster.',
    why: 'It is just starting, does not serve the road `kafka`, or cannot write its ConfigMap isthmus-clusters.',
    cure: 'Ask again with `isthmus clusters`; then see the log of the operator.',
  },
} as const satisfies Record<string, CodeEntry>;

export type CheckCode = keyof typeof CHECKS;
