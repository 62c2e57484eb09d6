/** Fields that Strimzi knows and that nothing comes of here: said, so that nobody relies on them. Pure. */
import { isJsonObject } from '../../../kube/json.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { HOSTPORT_ANNOTATION } from '../expose/wish.ts';
import type { Fault } from '../../kernel/faults.ts';

export type IgnoredFault = Fault<'ConfigIgnored'>;
type Path = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;
type Listener = NonNullable<Kafka['spec']['kafka']['listeners']>[number];

const SPEC = ['kafka', 'entityOperator', 'clusterCa', 'clientsCa', 'maintenanceTimeWindows'];
const OPERATORS = ['topicOperator', 'userOperator'];
const AUTHORITY = [
  'generateCertificateAuthority',
  'generateSecretOwnerReference',
  'validityDays',
  'renewalDays',
  'certificateExpirationPolicy',
];
const KAFKA = [
  'version',
  'metadataVersion',
  'image',
  'config',
  'listeners',
  'authorization',
  'rack',
  'logging',
  'metricsConfig',
  'template',
  'jvmOptions',
  'resources',
  'readinessProbe',
];
const POOL = ['cluster', 'replicas', 'roles', 'storage', 'resources', 'jvmOptions', 'template'];
const VOLUME = ['id', 'type', 'size', 'sizeLimit', 'class', 'deleteClaim', 'kraftMetadata', 'volumes'];
const LISTENER = ['name', 'port', 'type', 'tls', 'authentication', 'networkPolicyPeers', 'configuration'];
/** Of the configuration of a listener: what is always heeded or refused, and what by some types. */
const CONFIGURATION = ['bootstrap', 'brokerCertChainAndKey'];
const EXPOSED = [...CONFIGURATION, 'subdomain', 'hostPattern', 'allowedSources'];
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  hostport: [...EXPOSED, 'portStrategy', 'preferredAddressType'],
  loadbalancer: EXPOSED,
};
const SERVICE = ['metadata', 'ipFamilyPolicy', 'ipFamilies'];
/** Of each template the fields that are heeded. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  pod: [
    'metadata',
    'affinity',
    'tolerations',
    'topologySpreadConstraints',
    'priorityClassName',
    'schedulerName',
    'hostAliases',
    'imagePullSecrets',
    'securityContext',
    'terminationGracePeriodSeconds',
    'tmpDirSizeLimit',
    'volumes',
  ],
  kafkaContainer: ['env', 'securityContext', 'volumeMounts'],
  podSet: ['metadata'],
  persistentVolumeClaim: ['metadata'],
  podDisruptionBudget: ['metadata', 'maxUnavailable'],
  serviceAccount: ['metadata'],
  bootstrapService: SERVICE,
  brokersService: SERVICE,
  externalBootstrapService: SERVICE,
  perPodService: SERVICE,
};
/** Of a pool only what is of its nodes alone. */
const POOL_TEMPLATES = ['pod', 'kafkaContainer', 'podSet', 'persistentVolumeClaim'];

/** What to do instead; of all others, to remove them. */
const ADVICE: Readonly<Record<string, string>> = {
  cruiseControl:
    'the operator empties brokers and evens out replicas itself (isthmus.dev/rebalance: on-scale); run Cruise Control beside it for more',
  kafkaExporter: 'run an exporter beside it, or use metricsConfig',
  tieredStorage: 'records stay on the disks of brokers; size them for it',
  quotas: 'give quotas to each KafkaUser',
  jmxOptions: 'use metricsConfig: {type: strimziMetricsReporter}',
  livenessProbe: 'there is no such probe; a node that ends is started again',
  replicas: 'the KafkaNodePools say it',
  storage: 'the KafkaNodePools say it',
  hostTemplate: 'use hostPattern, with $(id) for the broker',
  advertisedHostTemplate: 'use hostPattern, with $(id) for the broker',
  preferredNodePortAddressType: 'use preferredAddressType',
  brokers: 'use hostPattern for the names of all brokers',
  overrides: 'make a KafkaNodePool for each class of storage',
};

export function ignoredFaults(kafka: Kafka, pools: readonly KafkaNodePool[]): IgnoredFault[] {
  const { spec } = kafka;
  const { listeners = [], authorization, rack } = spec.kafka;
  return [
    ...besides(SPEC, spec, ['spec']),
    ...ofOperators(spec.entityOperator),
    ...besides(AUTHORITY, spec.clusterCa, ['spec', 'clusterCa']),
    ...besides(AUTHORITY, spec.clientsCa, ['spec', 'clientsCa']),
    ...besides(KAFKA, spec.kafka, ['spec', 'kafka']),
    ...besides(['type', 'superUsers'], authorization, ['spec', 'kafka', 'authorization']),
    ...besides(['type', 'topologyKey', 'envVarName'], rack, ['spec', 'kafka', 'rack']),
    ...ofTemplates(Object.keys(TEMPLATES), spec.kafka.template, ['spec', 'kafka', 'template']),
    ...listeners.flatMap((one, index) => ofListener(kafka, one, ['spec', 'kafka', 'listeners', index])),
    ...pools.flatMap(ofPool),
  ];
}

const usualAdvice = (field: string) => (Object.hasOwn(ADVICE, field) ? ADVICE[field]! : 'remove it');

/** What is written besides fields that are known. A field that was left empty is as good as none. */
export function besides(
  known: readonly string[],
  written: Fields | undefined,
  at: Path,
  who = '',
  adviceOn = usualAdvice,
): IgnoredFault[] {
  return Object.entries(written ?? {})
    .filter(([field, value]) => !known.includes(field) && !isEmpty(value))
    .map(([field]) => {
      const path = [...at, field];
      return {
        reason: 'ConfigIgnored',
        path,
        message: `${who}${spelled(path)} is not used: ${adviceOn(field)}`,
      };
    });
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const spelled = (path: Path) =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');

function ofTemplates(
  known: readonly string[],
  written: Fields | undefined,
  at: Path,
  who = '',
): IgnoredFault[] {
  const own = known.flatMap((name) => {
    const fields = written?.[name];
    return isJsonObject(fields) ? besides(TEMPLATES[name] ?? [], fields, [...at, name], who) : [];
  });
  return [...besides(known, written, at, who), ...own];
}

/** Of the entity operator nothing is heeded but which namespaces it looks in. */
function ofOperators(written: Fields | undefined): IgnoredFault[] {
  const at = ['spec', 'entityOperator'];
  const adviceOn = (field: string) =>
    field === 'secretPrefix'
      ? 'the Secret of a KafkaUser has the name of the KafkaUser'
      : 'topics and users are seen to by the operator itself, and there are no pods for them';
  return [
    ...besides(OPERATORS, written, at, '', adviceOn),
    ...OPERATORS.flatMap((name) => {
      const fields = written?.[name];
      return isJsonObject(fields) ? besides(['watchedNamespace'], fields, [...at, name], '', adviceOn) : [];
    }),
  ];
}

function ofListener({ metadata }: Kafka, listener: Listener, at: Path): IgnoredFault[] {
  const { configuration, name, type } = listener;
  const path = [...at, 'configuration'];
  // Of one whose CRD does not know `hostport`, another annotation has the configuration.
  const isMarked = metadata.annotations[HOSTPORT_ANNOTATION] === name && type === 'internal';
  const known = isMarked ? CONFIGURATION : (BY_TYPE[type] ?? CONFIGURATION);
  return [
    ...besides(LISTENER, listener, at),
    ...besides(known, configuration, path),
    ...besides(['alternativeNames'], configuration?.bootstrap, [...path, 'bootstrap']),
  ];
}

function ofPool({ metadata, spec }: KafkaNodePool): IgnoredFault[] {
  const who = `KafkaNodePool "${metadata.name}": `;
  const volumes = spec.storage?.volumes ?? [];
  return [
    ...besides(POOL, spec, ['spec'], who),
    ...ofTemplates(POOL_TEMPLATES, spec.template, ['spec', 'template'], who),
    ...besides(VOLUME, spec.storage, ['spec', 'storage'], who),
    ...volumes.flatMap((one, index) => besides(VOLUME, one, ['spec', 'storage', 'volumes', index], who)),
  ];
}
