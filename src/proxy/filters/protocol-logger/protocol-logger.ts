import { z } from 'zod';
import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { shortened } from '../../../ops/shortened.ts';
import type { ConnectionContext, FilterType, MessageContext } from '../../filter.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
/** The original writes names as Kafka's ApiKeys do: API_VERSIONS is ApiVersions. */
const simple = (name: string) => name.replaceAll('_', '').toLowerCase();
const byName = new Map(ALL_APIS.map(({ name }) => [simple(name), name]));

const apiName = z.string().transform((text, context): ApiName => {
  const name = byName.get(simple(text));
  if (name) return name;
  context.addIssue({ code: 'custom', message: 'is not the name of an API' });
  return z.NEVER;
});

const schema = z.strictObject({
  apiKeyNames: z.array(apiName).optional(),
  logLevel: z.string().toLowerCase().pipe(z.enum(LEVELS)).default('debug'),
  loggerName: z.string().optional(),
});

/** What is never logged: credentials, and the bytes of records. */
const SECRET_APIS = new Set<ApiName>([
  'SaslAuthenticate',
  'AlterUserScramCredentials',
  'CreateDelegationToken',
  'DescribeDelegationToken',
  'AlterConfigs', // passwords of key stores are settings, too
  'IncrementalAlterConfigs',
]);

/** A message as a log line can hold it. */
function printable(api: ApiName, message: object): unknown {
  if (SECRET_APIS.has(api)) return '(secret)';
  return plain(message);
}

/** Of a list; a client may send one of a million, again and again. */
const MOST_ITEMS = 100;

/** By hand, because JSON would make a list of every byte of a buffer first. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return shortened(value);
  if (Buffer.isBuffer(value)) return `(${value.length} bytes)`;
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_ITEMS).map(plain);
    return value.length > MOST_ITEMS ? [...items, `(${value.length - MOST_ITEMS} more)`] : items;
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** Logs decoded requests and responses: of the APIs that are named, or of all. */
export const protocolLogger: FilterType<z.output<typeof schema>> = {
  config: schema,
  create({ apiKeyNames, logLevel, loggerName = 'protocol' }) {
    const apis = apiKeyNames ?? ALL_APIS.map(({ name }) => name);
    const logTo = (context: ConnectionContext, what: string) => (message: object, about: MessageContext) => {
      if (!context.log.isLevelEnabled(logLevel)) return undefined;
      const { api, apiVersion, correlationId, clientId } = about;
      const fields = {
        logger: loggerName,
        client: context.clientAddress,
        api,
        apiVersion,
        correlationId,
        clientId: clientId === null ? null : shortened(clientId),
      };
      context.log[logLevel]({ ...fields, message: printable(api, message) }, what);
      return undefined;
    };
    return {
      connect: (context) => ({
        onRequest: Object.fromEntries(apis.map((api) => [api, logTo(context, 'request')])),
        onResponse: Object.fromEntries(apis.map((api) => [api, logTo(context, 'response')])),
      }),
    };
  },
};
