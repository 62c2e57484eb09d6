/** Reasons of the proxy road: KafkaProxy, KafkaProxyIngress, VirtualKafkaCluster, KafkaProtocolFilter. */
import { NOTHING_TO_DO } from './entry.ts';
import type { CodeEntry } from './entry.ts';

export const PROXY_REASONS = {
  ResolvedRefs: {
    means: 'Everything that the resource refers to is there and can be used.',
    why: 'All references were followed to their end.',
    cure: NOTHING_TO_DO,
  },
  ReferencedResourcesNotFound: {
    means: 'A resource that this one names does not exist.',
    why: 'It was not applied yet, has another name, or is in another namespace.',
    cure: 'Apply what the message names, or correct the reference.',
  },
  TransitivelyReferencedResourcesNotFound: {
    means: 'Something that a referenced resource refers to does not exist.',
    why: 'The reference itself is good, but the resource that it leads to names something that is missing.',
    cure: 'See the conditions of the referenced resource, and put that one right.',
  },
  InterpolatedReferencedResourcesNotFound: {
    means:
      'A placeholder in a filter’s configuration leads to a Secret or ConfigMap, or a key of it, that is missing.',
    why: 'The object was not applied yet, or the placeholder is misspelt.',
    cure: 'Create the object with that key, or correct the placeholder.',
  },
  InvalidReferencedResource: {
    means: 'A referenced resource is there but cannot be used.',
    why: 'It is of a wrong kind or content: a Secret without the key, a certificate that does not fit its key.',
    cure: 'Put the referenced resource right; the message says what is wrong with it.',
  },
  ReferencedResourceNotReconciled: {
    means: 'A referenced resource does not say yet what is needed of it.',
    why: 'Its own operator has not written its status, for example the addresses of a Kafka.',
    cure: 'Wait; if it lasts, look at that resource and its operator.',
  },
  RefNotPermitted: {
    means: 'The reference goes into another namespace, which has not allowed it.',
    why: 'No ReferenceGrant there names this namespace and kind.',
    cure: 'Have the owner of that namespace apply a ReferenceGrant, or keep both in one namespace.',
  },
  RequestedResourceKindNotSupported: {
    means: 'The ingress needs a kind that this cluster does not serve.',
    why: 'Routes exist on OpenShift only, TLSRoutes only where the Gateway API is installed.',
    cure: 'Install what serves the kind, or choose another ingress; `isthmus check proxy` says what is there.',
  },
  FilterNotAllowed: {
    means: 'The filter comes from a package that the KafkaProxy does not allow.',
    why: 'Its type names a module that stands neither in the KafkaProxy nor in `--filter-modules`.',
    cure: 'Have the owner of the KafkaProxy allow the package, or use another filter.',
  },
  PlaceholderNotAllowed: {
    means: 'A placeholder for a Secret stands in a field that may not hold secrets.',
    why: 'The filter does not declare that field secret, so its value could be shown somewhere.',
    cure: 'Move the secret into a field that the filter’s reference marks as secret.',
  },
  FilterNotProtected: {
    means: 'Developers may change a filter that the KafkaProxy demands of every virtual cluster.',
    why: 'It lacks the label that keeps filters from those who may not change KafkaProxies.',
    cure: 'Put the label `isthmus.dev/protected: "true"` on the KafkaProtocolFilter.',
  },
  PodMonitorNotServed: {
    means: 'No PodMonitor is made, though the KafkaProxy asks for one.',
    why: 'The cluster does not have the kind, or the operator may not write it: the Prometheus operator is not installed.',
    cure: 'Install the Prometheus operator, or set `management.podMonitor: false` and collect the metrics in another way.',
  },
  NoFreePorts: {
    means: 'There is no block of ports left that is large enough.',
    why: 'All ports of the ingress are in use, reserved, or freed less than 15 minutes ago.',
    cure: 'Wait 15 minutes after a removal, give the ingress more ports, or use one that goes by server names.',
  },
  ConfigTooLarge: {
    means: 'The proxy’s configuration would not fit into its Secret.',
    why: 'A Secret holds 1 MiB; the youngest virtual clusters above that are refused, and whichever would take more than a quarter of it. What the placeholders of one filter stand for may be as much.',
    cure: 'Move virtual clusters to another KafkaProxy, or let them share certificates.',
  },
  AddressPending: {
    means: 'The address that clients are to use is not known yet.',
    why: 'A load balancer, Gateway or router has not announced it.',
    cure: 'Wait; if it lasts, see the events of the Service, Gateway or Route that the message names.',
  },
  BrokersWithoutPort: {
    means: 'Some brokers of the target cannot be reached through the ingress.',
    why: 'The Kafka cluster has grown by more nodes than the block of ports has places.',
    cure: 'Declare the node ids of the target with room to grow, so that a larger block is given out.',
  },
  CertificateExpired: {
    means: 'The certificate that clients would see has ended.',
    why: 'Nobody renewed it in time.',
    cure: 'Renew it in its Secret; the proxy loads it by itself.',
  },
  CertificateExpiring: {
    means: 'The certificate that clients see ends soon.',
    why: 'It was not renewed yet. Clients notice nothing so far.',
    cure: 'Renew it in its Secret before the date in the message.',
  },
  CertificateNotYetValid: {
    means: 'The certificate is valid only from a later time on.',
    why: 'It was issued for later, or a clock is wrong.',
    cure: 'Compare the clocks, or issue the certificate again.',
  },
  CertificateHostMismatch: {
    means: 'The certificate does not cover a host name that clients use.',
    why: 'Its subject alternative names lack the bootstrap or a broker name.',
    cure: 'Issue it for the names in the message; a wildcard covers one label.',
  },
  RouteNotAccepted: {
    means: 'The router or Gateway does not take a route.',
    why: 'Its listeners, labels or namespaces do not fit, or another route has the host name.',
    cure: 'See the status of the Route or TLSRoute that the message names.',
  },
  InfrastructureNotAllowed: {
    means: 'Some annotations or labels in `infrastructure` are not set; the rest is served.',
    why: 'They would overrule what Isthmus itself needs, or what others decide by.',
    cure: 'Remove them, or ask the owner of the KafkaProxy to set them.',
  },
  InfrastructureWithoutEffect: {
    means: 'Some annotations or labels in `infrastructure` change nothing.',
    why: 'The kind of ingress makes no object that they could stand on.',
    cure: 'Remove them.',
  },
  RecordsNotPublished: {
    means: 'The DNS records of the virtual cluster are not published.',
    why: 'A DNSEndpoint of that name belongs to somebody else.',
    cure: 'Rename one of the two.',
  },
  ConfigRefused: {
    means: 'A proxy pod refuses its configuration, or the part of this virtual cluster.',
    why: 'Something is wrong that only the proxy can find out, or its image is older than the operator.',
    cure: 'Do as the message says; compare the versions of the operator and of the proxy’s image.',
  },
  OutOfService: {
    means: 'A proxy pod does not serve this virtual cluster, so that it can go on with all others.',
    why: 'A filter of a package of yours computed without an end, or ended a process of the pod twice.',
    cure: 'Put the filter right and change the virtual cluster or the filter’s configuration, at which it is served again; or wait until the time in the message.',
  },
  TargetUnreachable: {
    means: 'The proxy reaches no broker of the target Kafka.',
    why: 'The address, the network, TLS, or a NetworkPolicy stands in between, or Kafka is down.',
    cure: 'Try the bootstrap address from the proxy’s namespace; check TLS settings and policies.',
  },
  PodProblem: {
    means: 'A proxy pod reports a problem with this virtual cluster.',
    why: 'The message quotes the pod.',
    cure: 'Do as the quoted message says.',
  },
  KeyServiceUnavailable: {
    means:
      'A filter’s key service does not answer, so what needs a key that is not remembered is refused; the rest is served.',
    why: 'It is down, the network stands in between, or it fails: five requests in a row did. Clients try again by themselves.',
    cure: 'Bring the key service back. The condition goes within a minute of the first request that succeeds, or when nothing has needed the service for a minute.',
  },
  FilterProblem: {
    means: 'A filter lacks something that it can work on without.',
    why: 'The message quotes the filter.',
    cure: 'Do as the quoted message says.',
  },
  NodeIdNotDeclared: {
    means: 'A broker has a node id that nobody declared.',
    why: 'It has no port, record or route, so clients cannot reach it.',
    cure: 'Add the id to the node ids of the ingress or of the KafkaClusterRef.',
  },
  ConfigPending: {
    means: 'Pods have yet to load the newest configuration.',
    why: 'That takes seconds after each change.',
    cure: 'Wait. If it lasts for minutes, see the logs of the proxy’s pods.',
  },
  PodsUnreachable: {
    means: 'The operator cannot ask the proxy’s pods what they serve.',
    why: 'A NetworkPolicy or the network keeps it from their management port. Clients may be served well.',
    cure: 'Let the operator’s pods reach the management port of the proxy’s pods.',
  },
  ScaledToZero: {
    means: 'The proxy has no pods because none are asked for.',
    why: '`replicas` is 0.',
    cure: 'Scale it up when it is to serve again.',
  },
  ServedAsLastGood: {
    means: 'Clients are served as before, not as the resources say now.',
    why: 'Something that worked once cannot be had now, so what was last good goes on in its place.',
    cure: 'Put right what the message names; the rest happens by itself.',
  },
} as const satisfies Record<string, CodeEntry>;
