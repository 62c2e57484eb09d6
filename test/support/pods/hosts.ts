/**
 * The names of pods and Services, as a cluster's DNS would have them, for programs that take a hosts file (Java) or a lookup function
 * (Node). A Service with an address of its own stands for its ready pods: nobody translates ports here.
 */
import { lookup as systemLookup } from 'node:dns';
import { rename, writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { holds } from './types.ts';
import type { Pod, Service } from './types.ts';

/** Addresses by name. */
export type Names = ReadonlyMap<string, readonly string[]>;

const isOf = ({ metadata, spec }: Service, pod: Pod) =>
  spec.selector !== undefined &&
  metadata.namespace === pod.metadata.namespace &&
  Object.entries(spec.selector).every(([name, value]) => pod.metadata.labels?.[name] === value);

const isServing = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined && holds(status?.conditions, 'Ready');

const spellings = (name: string, namespace: string) => [
  `${name}.${namespace}.svc`,
  `${name}.${namespace}.svc.cluster.local`,
];

/** What a pod behind a Service is called: by the Service, and by itself where that is headless. */
function* behind(pods: readonly Pod[], services: readonly Service[]) {
  for (const service of services) {
    const { name, namespace } = service.metadata;
    const isHeadless = service.spec.clusterIP === 'None';
    for (const pod of pods) {
      const address = pod.status?.podIP;
      const isPublished = isHeadless && service.spec.publishNotReadyAddresses === true;
      if (address === undefined || !isOf(service, pod) || !(isPublished || isServing(pod))) continue;
      const { hostname, subdomain } = pod.spec;
      const own = isHeadless && subdomain === name ? hostname : undefined;
      yield { name, namespace, address, own };
    }
  }
}

function collected(entries: Iterable<readonly [name: string, address: string]>): Names {
  const names = new Map<string, string[]>();
  for (const [name, address] of entries) names.set(name, [...(names.get(name) ?? []), address]);
  return names;
}

/** The names that pods and Services give, each in its usual lengths. */
export function namesOf(pods: readonly Pod[], services: readonly Service[]): Names {
  return collected(
    [...behind(pods, services)].flatMap(({ name, namespace, address, own }) =>
      [name, ...(own === undefined ? [] : [`${own}.${name}`])].flatMap((each) =>
        spellings(each, namespace).map((spelled) => [spelled, address] as const),
      ),
    ),
  );
}

/** The names that they have in other clusters of a set (KEP-1645), as if every Service were exported. */
export function clusterSetNamesOf(pods: readonly Pod[], services: readonly Service[], id: string): Names {
  return collected(
    [...behind(pods, services)].flatMap(({ name, namespace, address, own }) => {
      const service = `${name}.${namespace}.svc.clusterset.local`;
      return [service, ...(own === undefined ? [] : [`${own}.${id}.${service}`])].map(
        (each) => [each, address] as const,
      );
    }),
  );
}

/** All of them together. */
export const joined = (all: readonly Names[]): Names =>
  collected(
    all.flatMap((names) =>
      [...names].flatMap(([name, addresses]) => addresses.map((address) => [name, address] as const)),
    ),
  );

/** A hosts file. */
export function hostsText(names: Names): string {
  const lines = [...names].flatMap(([name, addresses]) => addresses.map((address) => `${address} ${name}\n`));
  return ['127.0.0.1 localhost\n', ...lines].join('');
}

/** Looks names of pods and Services up, and `localhost` as always; others do not exist. */
function lookupIn(names: () => Names): LookupFunction {
  return (hostname, options, callback) => {
    const found = names().get(hostname.toLowerCase());
    if (found === undefined && hostname === 'localhost') return systemLookup(hostname, options, callback);
    const [first] = found ?? [];
    if (found === undefined || first === undefined) {
      const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), {
        code: 'ENOTFOUND',
        hostname,
      });
      process.nextTick(callback, error, '', 4);
    } else if (options.all)
      process.nextTick(
        callback,
        null,
        found.map((address) => ({ address, family: 4 })),
      );
    else process.nextTick(callback, null, first, 4);
  };
}

/** The names there are, where programs can ask for them. */
export interface Hosts {
  /** The hosts file: replaced, never half written. */
  readonly file: string;
  readonly lookup: LookupFunction;
  set(names: Names): Promise<void>;
}

/** Keeps a hosts file in the folder. */
export async function createHosts(folder: string): Promise<Hosts> {
  const file = join(folder, 'hosts');
  let names: Names = new Map();
  let written = '';
  const set = async (now: Names) => {
    names = now;
    const text = hostsText(now);
    if (text === written) return;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
    written = text;
  };
  await set(names);
  return { file, lookup: lookupIn(() => names), set };
}
