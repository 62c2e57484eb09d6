import { ALL_APIS, apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import type { ProxyConfig } from '../config/model.ts';
import { scanProgram } from './endpoint-scanner.ts';

/** Which APIs and versions clients may use. What is refused is not in ApiVersions responses, so clients ask for others. */

type UnknownApis = ProxyConfig['unknownApis'];

/** Between brokers and controllers, although brokers' listeners take them from anybody with the right. */
const INTERNAL: ReadonlySet<ApiName> = new Set([
  'AddRaftVoter',
  'RemoveRaftVoter',
  'InitializeShareGroupState',
  'ReadShareGroupState',
  'WriteShareGroupState',
  'DeleteShareGroupState',
  'ReadShareGroupStateSummary',
]);

/** The newest version of each API that is known, by key; there is none of an API that clients have no business with. */
const NEWEST: (number | undefined)[] = [];
for (const { name, key, max, broker } of ALL_APIS) if (broker && !INTERNAL.has(name)) NEWEST[key] = max;

/** The newest version that clients may use; undefined for an API that is refused. */
export function newestServed(apiKey: number, unknownApis: UnknownApis): number | undefined {
  const newest = NEWEST[apiKey];
  if (newest === undefined)
    return unknownApis === 'pass' && apiKey >= 0 && !apiOf(apiKey) ? 0x7fff : undefined;
  // A version that nobody can read may have addresses anywhere.
  return unknownApis === 'refuse' || scanProgram(apiKey, newest).length > 0 ? newest : 0x7fff;
}

/** Whether requests of this API and version are served. Versions of before Kafka 4 are: none has an address that we miss. */
export function isServed(apiKey: number, apiVersion: number, unknownApis: UnknownApis): boolean {
  const newest = NEWEST[apiKey];
  if (newest !== undefined && apiVersion <= newest) return true;
  return apiVersion <= (newestServed(apiKey, unknownApis) ?? -1);
}
