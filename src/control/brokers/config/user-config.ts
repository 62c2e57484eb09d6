/** Which broker settings are a user's to set. Pure. */

/** What the operator sets itself, by prefix, as Strimzi has it. */
const FORBIDDEN = [
  'listeners',
  'advertised.',
  'broker.',
  'listener.',
  'host.name',
  'port',
  'inter.broker.listener.name',
  'sasl.',
  'ssl.',
  'security.',
  'password.',
  'log.dir',
  'zookeeper.',
  'authorizer.',
  'super.user',
  'node.id',
  'process.roles',
  'controller.',
  'metadata.log.dir',
  'config.providers',
  'cordoned.log.dirs',
  'prometheus.metrics.reporter.',
];

/** What begins like that and is a user's all the same. */
const ALLOWED = new Set([
  'ssl.cipher.suites',
  'ssl.protocol',
  'ssl.enabled.protocols',
  'controller.quorum.election.backoff.max.ms',
  'controller.quorum.election.timeout.ms',
  'controller.quorum.fetch.timeout.ms',
  'broker.session.timeout.ms',
  'broker.heartbeat.interval.ms',
]);

/** Whether it can be the name of a property. */
export const isSetting = (key: string): boolean => /^[A-Za-z0-9._-]{1,249}$/.test(key);

export interface UserConfig {
  config: Record<string, string>;
  /** Keys that are left out, because they are not the user's to set. */
  ignored: string[];
  /** Keys or values that cannot be written in a properties file. */
  broken: string[];
}

export function userConfigOf(written: Readonly<Record<string, unknown>>): UserConfig {
  const config: Record<string, string> = {};
  const ignored: string[] = [];
  const broken: string[] = [];
  for (const [key, value] of Object.entries(written).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const text = textOf(value);
    if (!isSetting(key) || text === undefined) broken.push(key);
    else if (!ALLOWED.has(key) && FORBIDDEN.some((prefix) => key.startsWith(prefix))) ignored.push(key);
    else config[key] = text;
  }
  return { config, ignored, broken };
}

/** What Kafka can be sent, too, to change it while it runs. */
const LONGEST_VALUE = 32_767;

/** On one line; undefined for what cannot be written so. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || /[\r\n\0]/.test(value)) return undefined;
  if (Buffer.byteLength(value) > LONGEST_VALUE) return undefined;
  return value.trim();
}
