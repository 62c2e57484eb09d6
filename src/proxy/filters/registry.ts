import { configProblems } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { isFieldOf, moduleOf } from '../../ops/filter-module.ts';
import type { Filter, FilterSetting, FilterType } from '../filter.ts';

/**
 * Every kind of filter by its names: ours, and the class names of the original. Each is loaded when it is first used.
 * A package after `module:` is the user's own; whether it is allowed has been decided by the configuration.
 */
type Load = () => Promise<FilterType<never>>;

const KINDS: { names: readonly string[]; load: Load }[] = [
  {
    names: ['audit', 'Audit'],
    load: async () => (await import('./audit/audit.ts')).audit as FilterType<never>,
  },
  {
    names: ['authorization', 'Authorization', 'io.kroxylicious.filter.authorization.Authorization'],
    load: async () => (await import('./authorization/authorization.ts')).authorization as FilterType<never>,
  },
  {
    names: [
      'connection-expiry',
      'ConnectionExpiration',
      'io.kroxylicious.filter.connectionexpiration.ConnectionExpiration',
    ],
    load: async () =>
      (await import('./connection-expiry/connection-expiry.ts')).connectionExpiry as FilterType<never>,
  },
  {
    names: ['masking', 'Masking'],
    load: async () => (await import('./masking/masking.ts')).masking as FilterType<never>,
  },
  {
    names: [
      'multi-tenant',
      'MultiTenant',
      'io.kroxylicious.proxy.filter.multitenant.MultiTenant',
      'io.kroxylicious.filter.multitenant.MultiTenant',
    ],
    load: async () => (await import('./multi-tenant/multi-tenant.ts')).multiTenant as FilterType<never>,
  },
  {
    names: [
      'oauth-bearer-validation',
      'OauthBearerValidation',
      'io.kroxylicious.proxy.filter.oauthbearer.OauthBearerValidation',
      'io.kroxylicious.filter.oauthbearer.OauthBearerValidation',
    ],
    load: async () =>
      (await import('./oauth-bearer-validation/oauth-bearer-validation.ts'))
        .oauthBearerValidation as FilterType<never>,
  },
  {
    names: ['protocol-logger', 'ProtocolLogger', 'io.kroxylicious.filter.protocollogger.ProtocolLogger'],
    load: async () =>
      (await import('./protocol-logger/protocol-logger.ts')).protocolLogger as FilterType<never>,
  },
  {
    names: ['quota', 'Quota'],
    load: async () => (await import('./quota/quota.ts')).quota as FilterType<never>,
  },
  {
    names: ['record-encryption', 'RecordEncryption', 'io.kroxylicious.filter.encryption.RecordEncryption'],
    load: async () =>
      (await import('./record-encryption/record-encryption.ts')).recordEncryption as FilterType<never>,
  },
  {
    names: [
      'record-validation',
      'RecordValidation',
      'io.kroxylicious.proxy.filter.validation.RecordValidation',
      'io.kroxylicious.filter.validation.RecordValidation',
    ],
    load: async () =>
      (await import('./record-validation/record-validation.ts')).recordValidation as FilterType<never>,
  },
  {
    names: ['sasl-inspection', 'SaslInspection', 'io.kroxylicious.filter.sasl.inspection.SaslInspection'],
    load: async () =>
      (await import('./sasl-inspection/sasl-inspection.ts')).saslInspection as FilterType<never>,
  },
  {
    names: ['sasl-termination', 'SaslTermination', 'io.kroxylicious.filter.sasl.termination.SaslTermination'],
    load: async () =>
      (await import('./sasl-termination/sasl-termination.ts')).saslTermination as FilterType<never>,
  },
  {
    names: ['topic-alias', 'TopicAlias'],
    load: async () => (await import('./topic-alias/topic-alias.ts')).topicAlias as FilterType<never>,
  },
];

/** The names of every kind, for messages and documentation. */
export const FILTER_TYPES = KINDS.map(({ names }) => names);

/** A filter as a configuration has it. */
export interface FilterSource {
  type: string;
  config: unknown;
  /** Of a user's own filter: what an admin says of its fields. */
  secretFields?: readonly string[] | undefined;
}

/** A module that neither loads nor fails, or a filter that is never made, must not hold up the others. */
const LOAD_TIMEOUT_MS = 5000;

const loading = new Map<string, Promise<FilterType<never>>>();

/** The kind of filter of this name. A module is loaded once, also if it cannot be: Node would not try it again either. */
export function loadFilterType(type: string): Promise<FilterType<never>> {
  const kind = KINDS.find(({ names }) => names.includes(type));
  if (kind) return kind.load();
  const name = moduleOf(type);
  if (name === undefined)
    throw new Error(
      `type: "${type}" is not one of ${KINDS.map(({ names }) => names[0]).join(', ')}, nor module:<package>`,
    );
  const found = loading.get(name) ?? loadModule(name);
  loading.set(name, found);
  return found;
}

async function loadModule(name: string): Promise<FilterType<never>> {
  let module: { filter?: FilterType<never> };
  try {
    module = (await withinTime(import(name))) as typeof module;
  } catch (error) {
    throw new Error(`the module ${name} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
  if (typeof module.filter?.create !== 'function') throw new Error(`the module ${name} exports no "filter"`);
  return module.filter;
}

/** Checks a filter's configuration without making it. Throws with the key and what is wrong; values are never quoted. */
export async function checkFilter(source: FilterSource, where: string): Promise<void> {
  parseConfig(await loadFilterType(source.type), source, where);
}

/** Makes a filter. */
export async function createFilter(source: FilterSource, setting: FilterSetting): Promise<Filter> {
  const kind = await loadFilterType(source.type);
  const config = parseConfig(kind, source, setting.name);
  try {
    return await withinTime(Promise.resolve(kind.create(config, setting)));
  } catch (error) {
    // Whatever it says of its secrets, it says to everybody who reads a status.
    const secretFields = [...(kind.secretFields ?? []), ...(source.secretFields ?? [])];
    if (!hasField(source.config, secretFields)) throw error;
    throw withoutWords(error, `${setting.name}: the filter could not be made`);
  }
}

/** That something was thrown, and of what kind, but neither its words nor its cause. */
function withoutWords(thrown: unknown, what: string): Error {
  return new Error(`${what} (${thrown instanceof Error ? thrown.name : typeof thrown})`);
}

function parseConfig(kind: FilterType<never>, { type, config }: FilterSource, where: string): never {
  const isOurs = moduleOf(type) === undefined;
  let problems: ReturnType<typeof configProblems>;
  try {
    const result = kind.config.safeParse(config ?? {});
    if (result.success) return result.data;
    problems = configProblems(result.error, config);
  } catch (error) {
    throw isOurs ? error : withoutWords(error, `${where}: the schema could not check the configuration`);
  }
  const lines = problems.map(({ path, message }) => {
    // What a user's own schema says may quote what it does not like.
    return `${path || '(top level)'}: ${isOurs ? message : 'is not what the filter takes'}`;
  });
  throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${lines.join('\n  ')}`);
}

/** Whether a config has anything at one of these fields. */
function hasField(value: unknown, fields: readonly string[], path: string[] = []): boolean {
  if (isFieldOf(fields, path)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([step, inner]) => hasField(inner, fields, [...path, step]));
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`it took longer than ${LOAD_TIMEOUT_MS} ms`)),
    LOAD_TIMEOUT_MS,
  );
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
