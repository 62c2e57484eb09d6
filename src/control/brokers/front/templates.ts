/** What users want on the objects that are made, and of Java: kept as written, once it has the form that it must have. Pure. */
import { z } from 'zod';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import { PROBE_TIMES } from '../model/cluster.ts';
import type { JvmOptions, ProbeTimes, Templates } from '../model/cluster.ts';
import { isReservedKey } from '../model/names.ts';

const objects = z.array(z.looseObject({})).optional();
const texts = z.record(z.string(), z.string()).optional();

const wishes = z.looseObject({ labels: texts, annotations: texts });

/** The fields that are interpreted; an API server judges the rest. */
const template = z.looseObject({
  metadata: wishes.optional(),
  affinity: z.looseObject({}).optional(),
  securityContext: z.looseObject({}).optional(),
  tolerations: objects,
  topologySpreadConstraints: objects,
  hostAliases: objects,
  imagePullSecrets: objects,
  volumes: objects,
  volumeMounts: objects,
  env: objects,
  ipFamilies: z.array(z.string()).optional(),
  ipFamilyPolicy: z.string().optional(),
  priorityClassName: z.string().optional(),
  schedulerName: z.string().optional(),
  tmpDirSizeLimit: z.string().optional(),
  terminationGracePeriodSeconds: z.int().min(0).optional(),
  maxUnavailable: z.int().min(0).optional(),
});

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** `-Xms`, `-Xmx`, `-XX` (a map of options) and `javaSystemProperties`, as Strimzi has them. */
const jvm = z.looseObject({
  '-Xms': z.string().optional(),
  '-Xmx': z.string().optional(),
  '-XX': z.record(z.string(), scalar).optional(),
  javaSystemProperties: z
    .array(z.looseObject({ name: z.string().optional(), value: z.string().optional() }))
    .optional(),
});

const count = z.int().min(1).optional();

/** The times of a probe; what is probed is not the user's to say. */
const probe = z.looseObject({
  initialDelaySeconds: z.int().min(0).optional(),
  timeoutSeconds: count,
  periodSeconds: count,
  successThreshold: count,
  failureThreshold: count,
});

const resources = z.looseObject({});

const templates = z.record(z.string(), template);

/** A field that was left empty (null) is as good as none. */
const withoutNulls = (written: unknown): unknown =>
  JSON.parse(JSON.stringify(written ?? {}, (_key, value: unknown) => value ?? undefined));

/** What of the templates and of the options of Java cannot be, or is left out. */
export function templateFaults({ spec }: Kafka, pools: readonly KafkaNodePool[]): Fault[] {
  return [
    ...faultsIn(templates, spec.kafka.template, ['spec', 'kafka', 'template'], ''),
    ...leftOut(spec.kafka.template, ['spec', 'kafka', 'template'], ''),
    ...faultsIn(jvm, spec.kafka['jvmOptions'], ['spec', 'kafka', 'jvmOptions'], ''),
    ...faultsIn(probe, spec.kafka['readinessProbe'], ['spec', 'kafka', 'readinessProbe'], ''),
    ...faultsIn(resources, spec.kafka['resources'], ['spec', 'kafka', 'resources'], ''),
    ...pools.flatMap((pool) => {
      const who = `KafkaNodePool "${pool.metadata.name}": `;
      return [
        ...faultsIn(templates, pool.spec.template, ['spec', 'template'], who),
        ...leftOut(pool.spec.template, ['spec', 'template'], who),
        ...faultsIn(jvm, pool.spec.jvmOptions, ['spec', 'jvmOptions'], who),
      ];
    }),
  ];
}

function faultsIn(schema: z.ZodType, written: unknown, at: readonly string[], who: string): Fault[] {
  const [issue] = schema.safeParse(withoutNulls(written)).error?.issues ?? [];
  if (!issue) return [];
  const path = [...at, ...issue.path.map(String)];
  return [{ reason: 'Invalid', path, message: `${who}${path.join('.')}: ${issue.message}` }];
}

/** Keys that are the operator's own: what is made is found again by them, so that a user's are not taken. */
function leftOut(written: unknown, at: readonly string[], who: string): Fault[] {
  return Object.entries(templatesOf(written)).flatMap(([object, { metadata }]): Fault[] => {
    const { labels = {}, annotations = {} } = (metadata ?? {}) as z.output<typeof wishes>;
    const keys = [
      ...Object.keys(labels).map((key) => ['label', key] as const),
      ...Object.keys(annotations).map((key) => ['annotation', key] as const),
    ].filter(([, key]) => isReservedKey(key));
    if (keys.length === 0) return [];
    const path = [...at, object, 'metadata'];
    const named = keys.map(([what, key]) => `${what} "${key}"`).join(', ');
    const message = `${who}${path.join('.')}: left out ${named}: such keys are the operator's own; remove them`;
    return [{ reason: 'ConfigIgnored', path, message }];
  });
}

/** What is wrong with them is told by `templateFaults`. */
export function templatesOf(written: unknown): Templates {
  return templates.safeParse(withoutNulls(written)).data ?? {};
}

export function jvmOf(written: unknown): JvmOptions {
  const options = jvm.safeParse(withoutNulls(written)).data ?? {};
  const xx = Object.entries(options['-XX'] ?? {}).map(([name, value]) => {
    const text = String(value);
    return text === 'true' ? `-XX:+${name}` : text === 'false' ? `-XX:-${name}` : `-XX:${name}=${text}`;
  });
  const properties = (options.javaSystemProperties ?? []).map(
    ({ name = '', value = '' }) => `-D${name}=${value}`,
  );
  return { xms: options['-Xms'], xmx: options['-Xmx'], options: [...xx, ...properties] };
}

/** The times of a probe that a user wants to be others than the usual ones. */
export function probeOf(written: unknown): ProbeTimes {
  const { data = {} } = probe.safeParse(withoutNulls(written));
  const times = PROBE_TIMES.flatMap((name) => {
    const value = data[name];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(times);
}

/** CPU and memory, as written. */
export const resourcesOf = (written: unknown): Readonly<Record<string, unknown>> | undefined =>
  written === undefined || written === null ? undefined : resources.safeParse(written).data;
