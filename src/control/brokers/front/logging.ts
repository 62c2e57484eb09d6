/** How nodes log, as Log4j 2 reads it: what is usual, with what a user sets of it; or a file of the user's own. Pure. */
import { z } from 'zod';
import type { KubeObject } from '../../../kube/object.ts';
import { isSetting, textOf } from '../config/user-config.ts';
import type { Fault } from '../faults.ts';
import type { Logging } from '../model/cluster.ts';
import { refusal } from './node-faults.ts';

/** The interval is in seconds: a file that is changed is read again, so no node is restarted to log more. */
const USUAL: Readonly<Record<string, string>> = {
  status: 'warn',
  monitorInterval: '30',
  'appender.console.type': 'Console',
  'appender.console.name': 'CONSOLE',
  'appender.console.layout.type': 'PatternLayout',
  'appender.console.layout.pattern': '%d{ISO8601} %-5p [%t] %c{1}:%L - %m%n',
  'rootLogger.level': 'INFO',
  'rootLogger.appenderRef.console.ref': 'CONSOLE',
};

/** What properties of Log4j 2 begin with. */
const KNOWN =
  /^(status|monitorInterval|name|verbose|strict|property|properties|filter|filters|appender|appenders|logger|loggers|rootLogger|customLevel)(\.|$)/;

const PATH = ['spec', 'kafka', 'logging'] as const;
/** It is in the ConfigMap of every node, beside all else. */
const MAX_TEXT = 128 * 1024;

const written = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('inline'), loggers: z.record(z.string(), z.unknown()).nullish() }),
  z.looseObject({
    type: z.literal('external'),
    valueFrom: z.looseObject({
      configMapKeyRef: z.looseObject({ name: z.string().min(1), key: z.string().min(1) }),
    }),
  }),
]);

const writtenIn = ({ spec }: KubeObject & { spec?: unknown }): unknown =>
  (spec as { kafka?: { logging?: unknown } } | undefined)?.kafka?.logging ?? undefined;

/** The ConfigMap that a Kafka has its logging from, if it has it from one. */
export function loggingSource(kafka: KubeObject): { name: string; key: string } | undefined {
  const { data } = written.safeParse(writtenIn(kafka));
  return data?.type === 'external' ? data.valueFrom.configMapKeyRef : undefined;
}

/** `external` is what its ConfigMap has; undefined if there is none. */
export function loggingOf(
  kafka: KubeObject,
  external: string | undefined,
): { logging: Logging; faults: Fault[] } {
  const wish = writtenIn(kafka);
  if (wish === undefined) return inline({});
  const { data } = written.safeParse(wish);
  if (!data) {
    const message =
      'logging is inline with loggers, or external with valueFrom.configMapKeyRef (name and key)';
    return { ...inline({}), faults: [refusal('Invalid', PATH, message)] };
  }
  return data.type === 'inline'
    ? inline(data.loggers ?? {})
    : fromConfigMap(data.valueFrom.configMapKeyRef, external);
}

function fromConfigMap(
  { name, key }: { name: string; key: string },
  text: string | undefined,
): { logging: Logging; faults: Fault[] } {
  const refuse = (message: string) => ({ ...inline({}), faults: [refusal('Invalid', PATH, message)] });
  if (text === undefined)
    return refuse(
      `there is no ConfigMap "${name}" with a key "${key}" in the namespace of the Kafka; create it`,
    );
  if (text.length > MAX_TEXT)
    return refuse(`ConfigMap "${name}": ${key} is longer than ${MAX_TEXT} characters`);
  return { logging: loggingFile(text), faults: [] };
}

function inline(loggers: Readonly<Record<string, unknown>>): { logging: Logging; faults: Fault[] } {
  const own: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const [key, value] of Object.entries(loggers)) {
    const text = textOf(value);
    const path = [...PATH, 'loggers', key];
    if (!isSetting(key) || text === undefined)
      faults.push(refusal('Invalid', path, `${key} is not a name and a value on one line; correct it`));
    else if (KNOWN.test(key)) own[key] = text;
    else {
      const message = `Log4j 2 knows no ${key}; write rootLogger.level, or logger.ID.name and logger.ID.level`;
      faults.push({ reason: 'ConfigIgnored', path, message });
    }
  }
  const lines = Object.entries({ ...USUAL, ...own }).map(
    ([key, value]) => `${key} = ${value.replaceAll('\\', '\\\\')}\n`,
  );
  return { logging: loggingFile(lines.join('')), faults };
}

const loggingFile = (text: string): Logging => ({
  text,
  isReread: /^[ \t]*monitorInterval[ \t]*[=:][ \t]*[1-9]/m.test(text),
});
