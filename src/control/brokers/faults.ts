/** What can be wrong with a Kafka cluster that we run, and which condition says so. */
import type { EventRules } from '../kernel/events.ts';
import { faultRules } from '../kernel/faults.ts';
import type { Fault as AnyFault } from '../kernel/faults.ts';

const CONDITION_OF = {
  /** A field has a value that cannot be. */
  Invalid: 'Accepted',
  NotSupported: 'Accepted',
  /** Nobody has joined a cluster of that name. */
  UnknownCluster: 'Accepted',
  /** Not known, or not to be had from the one that runs. */
  VersionNotPossible: 'Accepted',
  /** What runs cannot become what is asked for. */
  ChangeNotPossible: 'Accepted',
  /** Somebody else's operator has it. */
  RunByAnother: 'Accepted',
  NameTaken: 'Accepted',
  /** A new one waits until all of its clusters were read. */
  ClustersPending: 'Ready',
  /** It is on its way out, and other clusters still have something of it. */
  CleanupPending: 'Ready',
  /** Somebody has deleted what all that it has in a cluster hangs off. */
  AnchorDeleting: 'Ready',
  /** Nothing is known of its nodes there, and nothing is changed. */
  ClusterUnreachable: 'Ready',
  /** The API server refuses an object of it. */
  Denied: 'Ready',
  PodsNotReady: 'Ready',
  /** An empty disk where there was data. */
  DiskLost: 'Ready',
  RollBlocked: 'Ready',
  Rolling: 'Ready',
  /** Brokers that are to go are being emptied. */
  Draining: 'Ready',
  /** Controllers come or go. */
  VotersChanging: 'Ready',
  /** They cannot be: there would be no place for what they have. */
  ScaleDownPrevented: 'Ready',
  CertificatesPending: 'Ready',
  CertificateAuthority: 'Ready',
  /** What nodes present does not lead to a root that clients are told to trust. */
  CertificateChain: 'Ready',
  /** Certificates will end unless somebody does something. */
  CertificatesEnding: 'Ready',
  /** A listener waits for the number that the API server gives to its Service. */
  HostPortPending: 'Ready',
  /** Somebody else has the port of the nodes that a listener has, and both use it. */
  HostPortShared: 'Ready',
  /** The cluster has not given it a load balancer. */
  LoadBalancerPending: 'Ready',
  /** A broker is where nobody outside has a way to. */
  NoNodeAddress: 'Ready',
  /** Exposed brokers are more than nodes that have their port free. */
  TooFewNodes: 'Ready',
  /** Nobody takes records. */
  NoDNSEndpoints: 'Ready',
  /** Its owner wants nothing done. */
  Paused: 'Ready',
  /** Works, but not as its owner may think. */
  ConfigIgnored: 'Ready',
  /** Another cluster was granted it first. */
  HostNameTaken: 'Ready',
  /** By no NamePolicy, in a zone that has any. */
  HostNameNotAllowed: 'Ready',
  /** The namespace has as many as its NamePolicy lets it have. */
  HostNameLimitReached: 'Ready',
  /** Clients are told an address within, and nobody said that this is meant. */
  NoPublicAddress: 'Ready',
} as const satisfies Record<string, ConditionType>;

export type ConditionType = 'Accepted' | 'Ready';
export type Reason = keyof typeof CONDITION_OF;
/** `pool` is the one that it is about, where it is about one. */
export type Fault = AnyFault<Reason> & { pool?: string };

/** Reasons that take nothing away. */
const WARNINGS: ReadonlySet<Reason> = new Set([
  'ClusterUnreachable',
  'HostPortShared',
  'NoDNSEndpoints',
  'ConfigIgnored',
  'Rolling',
  'Draining',
  'VotersChanging',
  'ScaleDownPrevented',
  'CertificatesEnding',
  'Paused',
  'NoPublicAddress',
]);

export const { conditionsOf } = faultRules<Reason, ConditionType>({
  conditionOf: CONDITION_OF,
  warnings: WARNINGS,
});

export const isWarning = ({ reason }: Pick<Fault, 'reason'>): boolean => WARNINGS.has(reason);

/** Which changes of conditions a person should hear of; of topics and users as well, of which there may be thousands. */
export const KAFKA_EVENTS: EventRules = {
  types: ['Accepted'],
  // While Kafka cannot be reached, that is for the Kafka to tell.
  routine: new Set(['CertificatesPending', 'Rolling', 'Draining', 'Paused', 'KafkaUnavailable']),
  waiting: new Set([
    'PodsNotReady',
    'HostPortPending',
    'LoadBalancerPending',
    'NoNodeAddress',
    'TooFewNodes',
  ]),
  onlyOf: {},
  announced: {
    ClusterUnreachable: '',
    HostPortShared: '',
    NoDNSEndpoints: '',
    ConfigIgnored: '',
    ScaleDownPrevented: '',
    CertificatesEnding: '',
    NoPublicAddress: '',
  },
};
