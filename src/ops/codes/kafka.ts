/** Reasons of the roads kafka, redpanda and pod-sets. */
import { NOTHING_TO_DO } from './entry.ts';
import type { CodeEntry } from './entry.ts';
import { ENTITY_REASONS } from './entities.ts';

const KAFKA = {
  VersionNotPossible: {
    means: 'The Kafka version, or its metadata version, cannot be had.',
    why: 'It is not known, or there is no way to it from the one that runs.',
    cure: 'Choose one that the message offers; take one step at a time.',
  },
  ChangeNotPossible: {
    means: 'What runs cannot become what is asked for. It goes on as it is.',
    why: 'Storage, roles or ids of nodes cannot be changed this way without losing data.',
    cure: 'Take the change back, or add a new node pool and remove the old one.',
  },
  UnknownCluster: {
    means: 'A node pool names a Kubernetes cluster that nobody has joined.',
    why: 'The name is misspelled, or the cluster was not joined with this operator, or has left.',
    cure: 'Correct `spec.cluster` of the pool, or join the cluster under that name.',
  },
  ClusterUnreachable: {
    means: 'A Kubernetes cluster that has nodes of the Kafka does not answer, or may not be read.',
    why: 'Its API server or the way to it is down, or its credentials ended; the message says since when, and how it fails.',
    cure: 'Bring it back. What runs there goes on, other clusters are still taken care of, and no node is restarted meanwhile.',
  },
  ClustersPending: {
    means: 'A new Kafka over several Kubernetes clusters waits until all of them were read.',
    why: 'Only then can anybody tell that it does not exist there already: a second one of its name must not be made.',
    cure: 'Bring the clusters that the message names back; it goes on by itself.',
  },
  CleanupPending: {
    means: 'A Kafka is being deleted, and some Kubernetes clusters still have something of it.',
    why: 'They cannot be reached, or garbage collection there is not done.',
    cure: 'Bring them back; or, if they are gone for good, annotate the Kafka with `isthmus.dev/force-cleanup: "true"`: what they have stays there.',
  },
  AnchorDeleting: {
    means:
      'Somebody has deleted the KafkaAnchor in a Kubernetes cluster that nodes are in. Nothing is changed there.',
    why: 'All that the Kafka has in that cluster hangs off its anchor; a finalizer keeps it until the Kafka itself goes.',
    cure: 'Nothing is lost yet. Make a pool in another cluster, and remove those in this one; then the anchor goes, and can be made anew.',
  },
  RunByAnother: {
    means: 'Another operator runs this Kafka.',
    why: 'Its objects, or a mark on it, belong to another operator, such as Strimzi’s.',
    cure: 'Let one of the two have it; the message says how to hand it over.',
  },
  DiskLost: {
    means: 'A node found an empty disk where it had data, and does not start.',
    why: 'Its volume was lost or replaced. Formatting it silently could lose what other nodes still need.',
    cure: 'Give the node its volume back; or, if the data is lost for good, annotate its pod with `strimzi.io/delete-pod-and-pvc=true`: it gets new disks, and copies from the others, as soon as nothing is lost by that.',
  },
  RollBlocked: {
    means: 'A node has to be restarted, and may not be now.',
    why: 'Partitions or the controllers’ quorum would lose too many members; the message says which.',
    cure: 'Bring back the nodes or replicas that are missing; the restart follows by itself.',
  },
  Rolling: {
    means: 'Nodes are being restarted, one after the other.',
    why: 'Their configuration, certificates or version changed.',
    cure: 'Nothing; it ends by itself.',
  },
  PartitionsMoving: {
    means: 'Partitions are being moved between brokers.',
    why: 'Brokers are to go, or new ones take their share.',
    cure: NOTHING_TO_DO,
  },
  PartitionsMoved: {
    means: 'No partition is left to be moved.',
    why: 'Brokers that were to go are empty, or new ones have their share.',
    cure: NOTHING_TO_DO,
  },
  ClusterAdopted: {
    means: 'A Kafka was taken over as its disks and pods say that it is.',
    why: 'What was written down of it (its KafkaAnchor) is not there, and nodes of it are.',
    cure: NOTHING_TO_DO,
  },
  Draining: {
    means: 'Brokers that are to go are being emptied.',
    why: 'A node pool became smaller, or was deleted. A broker goes when it has no replicas left.',
    cure: 'Wait; how long depends on the data.',
  },
  VotersChanging: {
    means: 'Controllers become voters of the metadata quorum, or cease to be.',
    why: 'Pools of controllers grew, shrank, moved or were deleted, or a controller has a new disk; one voter changes at a time.',
    cure: 'Wait; if it does not end, the message says which controllers have not caught up.',
  },
  VoterAdded: {
    means: 'A controller votes now.',
    why: 'It is new, or has a new disk, and has caught up with the others.',
    cure: NOTHING_TO_DO,
  },
  VoterRemoved: {
    means: 'A controller does not vote any more.',
    why: 'Its node is to go, or has a new disk.',
    cure: NOTHING_TO_DO,
  },
  ScaleDownPrevented: {
    means: 'Brokers that are to go cannot be emptied.',
    why: 'The brokers that stay have no place for their replicas.',
    cure: 'Keep more brokers, or lower the replication of the topics that the message names.',
  },
  CertificatesPending: {
    means: 'Certificates of nodes are being made.',
    why: 'The cluster is new, or its names changed.',
    cure: 'Wait a few seconds.',
  },
  CertificateChain: {
    means: 'Clients that trust what the status tells them to refuse the certificates of nodes.',
    why: 'The CA that was supplied, or issued, is not a root, and certificates above it are missing; or one of them has ended, is none of a CA, or does not allow a CA below it. Java does not mind, OpenSSL (and so most other clients) does.',
    cure: 'Put all certificates above the CA, up to the one that signed itself, into `ca.crt` behind its own. Where cert-manager writes it, give the Secret of the issuer the whole chain. A certificate that the message calls unfit has to be issued anew.',
  },
  CertificatesEnding: {
    means: 'Certificates will end unless somebody does something.',
    why: 'Isthmus may not renew them itself: they are somebody’s own, or outside of the maintenance window.',
    cure: 'Renew what the message names before its date.',
  },
  NamesNotPublished: {
    means:
      'DNS does not say yet where exposed brokers are; clients do not find them, or look where they were.',
    why: 'external-dns does not run, leaves the zone out, or was refused by the DNS provider; the DNS server of Isthmus, where that publishes them, has not the zone, or is not asked; or resolvers still have older records.',
    cure: 'Follow the message. If who publishes is up to date, wait for the TTL of the records; `isthmus probe --resolver` asks other servers.',
  },
  BrokersUnreachable: {
    means: 'A client from outside does not get through to every broker.',
    why: 'The message has the step at which it ends: a firewall (connect), another certificate (tls), another broker (identity).',
    cure: 'connect: open the port of the nodes. resolve: see DNSPropagated. Then see it from outside, with `isthmus probe`. Where clients have no way to the nodes, a Kafka can have `type: loadbalancer` instead.',
  },
  ForbiddenSourceConnected: {
    means: 'Somebody got to a listener whose `allowedSources` do not name them.',
    why: 'The network enforces no NetworkPolicies on host ports, the load balancer keeps to no source ranges, NetworkPolicies are switched off, or addresses are rewritten on the way to one that is allowed.',
    cure: 'Limit the port by a firewall before the nodes, or use a network plugin that enforces NetworkPolicies; `isthmus check expose` says what is known of the one that is there.',
  },
  SourcesUntested: {
    means: 'Nobody knows whether `allowedSources` of a listener keeps anybody out.',
    why: 'What enforces it cannot be asked, and nobody has tried to connect from a place that is not allowed; or somebody has, while nobody else got through either.',
    cure: 'Have the operator look from a joined cluster whose nodes are not among the sources: `isthmus install --probe-from`. Where it does, see first that `Reachable` is True.',
  },
  LoadBalancerPending: {
    means: 'Load balancers of a listener have no address yet; brokers without one do without the listener.',
    why: 'The cluster gives them out, which takes minutes in a cloud; or nobody does, or a quota is used up.',
    cure: 'Wait. If it lasts, see the events of the Services; without load balancers use `type: hostport`.',
  },
  HostPortPending: {
    means: 'A listener that is exposed by nodes has no port yet.',
    why: 'The API server gives out the number with the Service of the listener; it may have none left.',
    cure: 'Wait a few seconds. If it lasts, free node ports, or widen the range of the API server.',
  },
  HostPortShared: {
    means: 'Two clusters, or a cluster and other pods, have the same port of the nodes, and use it.',
    why: 'With `portStrategy: range` the operator chooses it, and sees only what is in the namespaces that it serves.',
    cure: 'Rename the listener in one of the clusters: another name gets another port. Its clients need the new one.',
  },
  TooFewNodes: {
    means: 'A broker finds no node, because its port is taken on every node that would do.',
    why: 'A listener of type hostport has one port for all brokers, so each needs a node of its own; or pods of others have that port.',
    cure: 'Add nodes, or have fewer brokers. If there are enough, see in the message why the others would not do. A Kafka can have `type: loadbalancer` instead.',
  },
  NoNodeAddress: {
    means: 'The node that a broker runs on has no address that clients could use.',
    why: 'Its `status.addresses` lack the type that the listener asks for, or the road pod-sets does not run.',
    cure: 'Compare the addresses of the Node with the listener; see that the operator serves pod-sets.',
  },
  NoPublicAddress: {
    means: 'Clients outside are told the internal address of a node.',
    why: 'The node has no ExternalIP, and the listener does not say which address is meant.',
    cure: 'Give nodes public addresses, or set `preferredAddressType: InternalIP` if clients reach those. A Kafka can have `type: loadbalancer` instead.',
  },
  NoDNSEndpoints: {
    means: 'Names of brokers are not published; brokers are reached by address all the same.',
    why: 'The cluster does not have the kind DNSEndpoint.',
    cure: 'Install external-dns with its CRD, or apply what `isthmus install --crds external-dns` prints.',
  },
  Paused: {
    means: 'Nothing is changed on this Kafka.',
    why: 'Its owner paused it by an annotation.',
    cure: 'Remove the annotation to go on.',
  },
  ConfigIgnored: {
    means: 'A setting is not used; the rest is.',
    why: 'Isthmus sets it itself, or it has no meaning here.',
    cure: 'Remove the setting that the message names.',
  },
  FieldIgnored: {
    means: 'A field is not used; the rest is.',
    why: 'Isthmus decides it itself, or it has no meaning here.',
    cure: 'Remove the field that the message names.',
  },
  BrokerRestarted: {
    means: 'A broker was restarted.',
    why: 'The note of the event says why.',
    cure: NOTHING_TO_DO,
  },
  CaKeyReplaced: {
    means: 'The key of a certificate authority is being replaced.',
    why: 'Somebody asked for it, or its time had come; both keys are trusted meanwhile.',
    cure: 'Clients that keep the authority’s certificate in a file of their own need the new one, too.',
  },
  CaRenewed: {
    means: 'The certificate of an authority was renewed; its key is the same.',
    why: 'It would have ended soon, or somebody asked for it.',
    cure: 'Clients that keep it in a file of their own take the new one before the old one ends.',
  },
  CaRemoved: {
    means: 'A former certificate authority is no longer trusted.',
    why: 'Nothing in use was signed by it any more, or it has ended.',
    cure: NOTHING_TO_DO,
  },
  CertificatesIssued: {
    means: 'Certificates of nodes were signed anew.',
    why: 'The note of the event says why for each.',
    cure: NOTHING_TO_DO,
  },
  Layout: {
    means: 'The cluster works, and would not survive much.',
    why: 'Too few nodes, or too many in one place; the message says which.',
    cure: 'Change the node pools as the message says.',
  },
  EvenControllers: {
    means: 'The number of controllers is even.',
    why: 'One more than an odd number survives no more losses.',
    cure: 'Run 3 or 5 controllers.',
  },
  SingleController: {
    means: 'There is a single controller.',
    why: 'Without it no leader is elected and nothing can be changed.',
    cure: 'Run 3 controllers.',
  },
  ForgetfulControllers: {
    means: 'Controllers keep their votes on storage that goes with their pod.',
    why: 'A controller that comes back empty may vote again, and a second leader be elected with less than all records.',
    cure: 'Give pools of controllers `persistent-claim` volumes; keep `ephemeral` for what may be lost.',
  },
  TooFewBrokers: {
    means: 'There are fewer brokers than `min.insync.replicas` demands.',
    why: 'No partition can have that many replicas in sync, so producers with acks=all are refused.',
    cure: 'Add brokers, or lower it.',
  },
  NoInternalTopics: {
    means: 'Kafka cannot make topics of its own: they would have more replicas than there are brokers.',
    why: 'Kafka makes those of consumer groups, transactions and share groups with 3 replicas unless `config` says otherwise.',
    cure: 'Set the factors that the message names in `spec.kafka.config`, or run 3 brokers.',
  },
  NoSpareReplica: {
    means: 'Partitions cannot lose a single replica without refusing writes.',
    why: 'They have as few replicas as `min.insync.replicas` demands.',
    cure: 'Give them one replica more.',
  },
  RackLossStopsWrites: {
    means: 'The loss of one rack would stop writes.',
    why: 'Too many replicas of a partition are in that rack.',
    cure: 'Spread the replicas over more racks.',
  },
  ClusterLossStopsControllers: {
    means: 'The loss of one Kubernetes cluster would leave no majority of controllers.',
    why: 'Half of them or more are in that cluster, as they always are with two clusters.',
    cure: 'Run an odd number of controllers over at least three clusters, so that none has half of them.',
  },
  ClusterLossStopsWrites: {
    means: 'The loss of one Kubernetes cluster may stop producers with acks=all.',
    why: 'Too few brokers, or replicas of a topic with default settings, would be left for `min.insync.replicas`.',
    cure: 'Have brokers in at least three clusters, with `default.replication.factor: 3` and `min.insync.replicas: 2`.',
  },
  ClustersFarApart: {
    means:
      'Round trips between two Kubernetes clusters of the Kafka take more than 10 ms, one in a hundred left out.',
    why: 'The network between them is long, or busy. Acknowledgements with acks=all wait for it, and replication with small buffers is slow over it.',
    cure: 'Set the sizes of buffers that the message has, let consumers read from near (`client.rack`), or have the clusters nearer to each other.',
  },
  VersionsFarApart: {
    means:
      'A pod-set controller in another Kubernetes cluster of the Kafka is more than one minor version from the operator.',
    why: 'The operator was upgraded, or the controller, and the other was not. What one writes, the other may not know.',
    cure: 'Run `isthmus join` again for the clusters that the message names, or upgrade the operator: docs/operations/upgrade.md.',
  },
} as const satisfies Record<string, CodeEntry>;

const POD_SETS = {
  Fenced: {
    means: 'The set is left alone: its Kafka was taken over since it was written.',
    why: 'The set carries an older epoch than the KafkaAnchor.',
    cure: 'Nothing, if the take-over was meant: its new owner writes the set again.',
  },
  AnchorUnknown: {
    means: 'Nobody can say whether the Kafka was taken over, so nothing is done.',
    why: 'The KafkaAnchor cannot be read.',
    cure: 'Do as the message says: mostly a missing CRD or right.',
  },
  PodStuck: {
    means: 'A pod does not go although it was told to long ago.',
    why: 'Its node does not answer, or a finalizer holds it.',
    cure: 'See the node. If it is lost for good, delete the Node or force the deletion of the pod.',
  },
  PodFailing: {
    means: 'A pod ends again and again soon after it began.',
    why: 'The message quotes the end of it. The next try waits longer each time.',
    cure: 'See `kubectl logs --previous` of the pod.',
  },
  NodeFacts: {
    means: 'Pods can be told about their nodes.',
    why: 'The operator may read Nodes.',
    cure: NOTHING_TO_DO,
  },
  Forbidden: {
    means: 'Pods cannot be told about their nodes, such as their zone.',
    why: 'The operator may not read Nodes.',
    cure: 'Grant `get` and `list` of nodes, if racks are used; otherwise nothing.',
  },
  PodCreated: { means: 'A pod was made.', why: 'The set lists it.', cure: NOTHING_TO_DO },
  PodDeleted: { means: 'A pod was deleted.', why: 'The note of the event says why.', cure: NOTHING_TO_DO },
  PodAdopted: {
    means: 'A pod that nobody owned belongs to the set now.',
    why: 'The set lists it.',
    cure: NOTHING_TO_DO,
  },
} as const satisfies Record<string, CodeEntry>;

export const KAFKA_REASONS = { ...KAFKA, ...ENTITY_REASONS, ...POD_SETS };
