/** Whether the kinds that roads need are there, and are what this version knows. Pure. */
import {
  BALANCER_ANNOTATION,
  CONFIGURATION_ANNOTATION,
  HOSTPORT_ANNOTATION,
} from '../../control/brokers/expose/wish.ts';
import { RACK_ANNOTATION } from '../../control/brokers/front/broker-fields.ts';
import { METRICS_ANNOTATION } from '../../control/brokers/front/metrics.ts';
import { crdName } from '../../resources/crd.ts';
import type { Kind } from '../../resources/kind.ts';
import type { Structural } from '../../resources/structural.ts';
import { configuration } from '../../resources/strimzi/listener.ts';
import { CLUSTER_ALIAS } from '../../resources/strimzi/kafka-node-pool.ts';
import type { CheckedRoad, CheckResult, Crd, Facts } from './facts.ts';
import { OPTIONAL_KINDS, neededKinds } from './kinds.ts';
import { fail, fine, known, warn } from './results.ts';
import { droppedFields, refusedValues } from './schema-difference.ts';

const LISTENER = 'Kafka spec.kafka.listeners[]';

const says = (annotations: string) => `the annotation ${annotations} says the same`;

/** Fields and values that can be said in another way, which every schema keeps. */
const INSTEAD: Readonly<Record<string, string>> = {
  'KafkaNodePool spec.cluster': says(CLUSTER_ALIAS),
  'Kafka spec.kafka.rack.type': says(RACK_ANNOTATION),
  'Kafka spec.kafka.rack.envVarName': says(RACK_ANNOTATION),
  'Kafka spec.kafka.metricsConfig.values': says(METRICS_ANNOTATION),
  'Kafka spec.kafka.metricsConfig.type: strimziMetricsReporter': says(METRICS_ANNOTATION),
  'Kafka spec.kafka.resources': 'the KafkaNodePools say the same, each for its nodes',
  [`${LISTENER}.type: hostport`]: says(HOSTPORT_ANNOTATION),
  ...Object.fromEntries(
    Object.keys(configuration.shape).map((field) => [
      `${LISTENER}.configuration.${field}`,
      says(`${CONFIGURATION_ANNOTATION} or ${BALANCER_ANNOTATION}`),
    ]),
  ),
};

/** Fields and values that count although our own schema lists none: it keeps what is there as it is. */
const KEPT: Readonly<Record<string, Structural>> = {
  Kafka: nested(['spec', 'kafka'], {
    properties: {
      resources: {},
      metricsConfig: { properties: { type: { enum: ['strimziMetricsReporter'] }, values: {} } },
    },
  }),
};

function nested(path: readonly string[], leaf: Structural): Structural {
  return path.reduceRight<Structural>((inner, name) => ({ properties: { [name]: inner } }), leaf);
}

export function crdChecks(facts: Facts, roads: readonly CheckedRoad[], isBefore: boolean): CheckResult[] {
  const served = 'value' in facts.operator ? (facts.operator.value?.roads ?? []) : [];
  const needed = new Set(roads.flatMap((road) => neededKinds(road, served)));
  return known('CRDs can be read', facts.crds, (crds) => [
    ...[...needed].flatMap((kind) => checkKind(kind, find(crds, kind), isBefore)),
    ...(isBefore ? strimziChecks(crds) : []),
  ]);
}

/** Strimzi's operator would go on with our schemas of its kinds, which lack what only it knows. */
function strimziChecks(crds: readonly Crd[]): CheckResult[] {
  const theirs = crds.filter((crd) => crd.metadata.name.endsWith('.strimzi.io') && !isOurs(crd));
  if (theirs.length === 0) return [];
  const names = theirs.map(({ metadata }) => metadata.name).join(', ');
  const problem = `${names} are there already; leave strimzi out of --crds of isthmus install, which would overwrite them`;
  return [warn('nobody else has installed CRDs of Strimzi', 'CrdsOfOthers', problem)];
}

const find = (crds: readonly Crd[], kind: Kind) =>
  crds.find(({ metadata }) => metadata.name === crdName(kind));

const isOurs = ({ metadata }: Crd) => metadata.labels?.['app.kubernetes.io/part-of'] === 'isthmus';

function checkKind(kind: Kind, crd: Crd | undefined, isBefore: boolean): CheckResult[] {
  const description = `the kind ${kind.kind} is served as this version knows it`;
  // Before an installation it is no news that kinds are missing.
  if (!crd) return isBefore ? [] : [fail(description, 'CrdMissing', `there is no CRD ${crdName(kind)}`)];
  const version = crd.spec.versions.findLast(({ name, served }) => served && kind.versions.includes(name));
  const [outdated, say] = isOurs(crd) ? (['CrdOutdated', fail] as const) : (['CrdForeign', warn] as const);
  if (!version) {
    const served = crd.spec.versions.map(({ name }) => name).join(', ');
    const wanted = kind.versions.join(' or ');
    return [fail(description, outdated, `${crdName(kind)} serves ${served}, and not ${wanted}`)];
  }
  const differences = differencesOf(kind, version.schema?.openAPIV3Schema);
  if (differences.length === 0) return [fine(description)];
  if (isBefore && isOurs(crd)) return [];
  return [say(description, outdated, `the schema of ${crdName(kind)} would ${differences.join(', and ')}`)];
}

function differencesOf(kind: Kind, theirs: Structural | undefined): string[] {
  const all = [kind.structural(), KEPT[kind.kind] ?? {}];
  const dropped = [...new Set(all.flatMap((ours) => droppedFields(ours, theirs)))].filter(isUsers);
  const refused = all.flatMap((ours) => refusedValues(ours, theirs)).filter(isUsers);
  const listed = (all: readonly string[]) => all.map((one) => fieldText(kind, one)).join(', ');
  return [
    ...(dropped.length > 0 ? [`drop ${listed(dropped)}`] : []),
    ...(refused.length > 0 ? [`refuse ${listed(refused)}`] : []),
  ];
}

/** API servers have their own schema of metadata, and the status is not for users to write. */
const isUsers = (path: string) => path.startsWith('spec');

function fieldText(kind: Kind, field: string): string {
  const instead = INSTEAD[`${kind.kind} ${field}`];
  return instead === undefined ? field : `${field} (${instead})`;
}

/** Kinds of other projects, which are used where they are served. */
export function optionalKindChecks(facts: Facts, roads: readonly CheckedRoad[]): CheckResult[] {
  const kinds = OPTIONAL_KINDS.filter(({ road }) => roads.includes(road));
  return [
    ...kinds.flatMap(({ kind, serves }) => {
      const description = `${kind} is served, for ${serves}`;
      return known(description, facts.served.get(kind), (isServed) => [
        isServed ? fine(description) : warn(description, 'KindNotServed', `there is no kind ${kind} here`),
      ]);
    }),
    ...gatewayChecks(facts, roads),
  ];
}

/** A Gateway without a controller has no effect. */
function gatewayChecks({ served, gatewayControllers }: Facts, roads: readonly CheckedRoad[]): CheckResult[] {
  const gateways = served.get('Gateway');
  if (!roads.includes('proxy') || !gateways || !('value' in gateways) || !gateways.value) return [];
  const description = 'a controller serves Gateways';
  return known(description, gatewayControllers, (names) => [
    names.length > 0
      ? fine(`${description}: ${names.join(', ')}`)
      : warn(description, 'KindNotServed', 'there is no GatewayClass, so nothing makes Gateways work'),
  ]);
}
