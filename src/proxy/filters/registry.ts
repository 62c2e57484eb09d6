import { checkConfig } from '../../ops/config.ts';
import type { Filter, FilterSetting, FilterType } from '../filter.ts';

/**
 * Every kind of filter by its names: ours, and the class names of the original. Each is loaded when it is first used.
 * Anything that looks like a module (a path, or a package after `module:`) is the user's own.
 */
type Load = () => Promise<FilterType<never>>;

const KINDS: { names: readonly string[]; load: Load }[] = [
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
    names: ['protocol-logger', 'ProtocolLogger', 'io.kroxylicious.filter.protocollogger.ProtocolLogger'],
    load: async () =>
      (await import('./protocol-logger/protocol-logger.ts')).protocolLogger as FilterType<never>,
  },
  {
    names: ['record-encryption', 'RecordEncryption', 'io.kroxylicious.filter.encryption.RecordEncryption'],
    load: async () =>
      (await import('./record-encryption/record-encryption.ts')).recordEncryption as FilterType<never>,
  },
];

/** The names of every kind, for messages and documentation. */
export const FILTER_TYPES = KINDS.map(({ names }) => names);

async function loadType(type: string): Promise<FilterType<never>> {
  const kind = KINDS.find(({ names }) => names.includes(type));
  if (kind) return kind.load();
  if (!type.startsWith('module:'))
    throw new Error(
      `type: "${type}" is not one of ${KINDS.map(({ names }) => names[0]).join(', ')}, nor module:<name>`,
    );
  const module = (await import(type.slice('module:'.length))) as { filter?: FilterType<never> };
  if (typeof module.filter?.create !== 'function') throw new Error(`${type} exports no "filter"`);
  return module.filter;
}

/** Checks a filter's configuration without making it. Throws with the key and what is wrong. */
export async function checkFilter(type: string, config: unknown, where: string): Promise<void> {
  checkConfig((await loadType(type)).config, config ?? {}, where);
}

/** Makes a filter. */
export async function createFilter(type: string, config: unknown, setting: FilterSetting): Promise<Filter> {
  const kind = await loadType(type);
  return kind.create(checkConfig(kind.config, config ?? {}, setting.name), setting);
}
