import { APIS } from './schemas/apis.ts';

export type ApiName = keyof typeof APIS;

/** What is known of an API; see schemas/apis.ts for the fields. */
export interface Api {
  name: ApiName;
  key: number;
  min: number;
  max: number;
  flexible: number;
  unstable: boolean;
  broker: boolean;
  controller: boolean;
}

const byKey: (Api | undefined)[] = [];
for (const name of Object.keys(APIS) as ApiName[]) byKey[APIS[name].key] = { name, ...APIS[name] };

/** Every API that has a version, in the order of keys. */
export const ALL_APIS: readonly Api[] = byKey.filter((api) => api !== undefined && api.max >= 0) as Api[];

/** The API of a name or a key; undefined for a key that Kafka 4.3 does not have. */
export function apiOf(api: ApiName): Api;
export function apiOf(api: ApiName | number): Api | undefined;
export function apiOf(api: ApiName | number): Api | undefined {
  return byKey[typeof api === 'number' ? api : APIS[api].key];
}

/** Whether messages of this API and version can be decoded and encoded here. */
export function isSupported(apiKey: number, version: number): boolean {
  const api = byKey[apiKey];
  return api !== undefined && version >= api.min && version <= api.max;
}
