/** The names that objects of the local cluster ask for themselves. */
import type { Cache } from '../../../kube/cache/cache.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { dnsEndpoint } from '../../../resources/external-dns/dns-endpoint.ts';
import type { Member } from '../members/member.ts';
import { openOptional } from '../members/optional-cache.ts';
import { trimOther } from '../members/trim.ts';
import { FQDN_ANNOTATION, HOSTNAME_ANNOTATION, SERVICE_NAME_LABEL } from '../names.ts';
import type { DnsEndpoint, EndpointSlice, Service } from '../objects.ts';
import { endpointObjectRecords, serviceRecords, sliceRecords } from './annotated.ts';
import type { RecordResult } from './dns-record.ts';
import type { ObjectRecords } from './publisher.ts';

export const LOCAL_KINDS = ['Service', 'EndpointSlice', 'DNSEndpoint'] as const;
export type LocalKind = (typeof LOCAL_KINDS)[number];

export interface LocalNames {
  /** The records of an object; undefined if it does not exist. */
  recordsOf(kind: LocalKind, key: string): ObjectRecords | undefined;
  readonly settled: Promise<void>;
  close(): void;
}

/** Watches the objects of the local cluster; `enqueue` gets kind and key of each object whose records may have changed. */
export function openLocalNames(
  local: Member,
  log: Log,
  enqueue: (kind: LocalKind, key: string) => void,
): LocalNames {
  const { services, slices } = local;
  const ends: (() => void)[] = [];
  const endpoints = openOptional<DnsEndpoint>({
    cluster: local.cluster,
    kind: dnsEndpoint,
    trim: trimOther,
    log,
    onOpen: (cache) => void ends.push(cache.subscribe((key) => enqueue('DNSEndpoint', key))),
  });
  ends.push(
    services.subscribe((key) => enqueue('Service', key), { keysOf: ifAnnotated(FQDN_ANNOTATION) }),
    slices.subscribe((key) => enqueue('EndpointSlice', key), { keysOf: ifAnnotated(HOSTNAME_ANNOTATION) }),
    slices.subscribe((key) => enqueue('Service', key), {
      keysOf: (slice) => annotatedServiceOf(slice, services),
    }),
  );

  const recordsOf: Record<LocalKind, (key: string) => ObjectRecords | undefined> = {
    Service(key) {
      const object = services.get(key);
      return object && objectRecords(object, serviceRecords(object, local.slicesOf(key)));
    },
    EndpointSlice(key) {
      const object = slices.get(key);
      if (!object) return undefined;
      // A name may need several slices, e.g. one for each IP family: those of one namespace do not conflict.
      const name = object.metadata.annotations?.[HOSTNAME_ANNOTATION]?.toLowerCase();
      const claimGroup = `EndpointSlices of ${name} in ${object.metadata.namespace}`;
      return { ...objectRecords(object, sliceRecords(object)), claimGroup };
    },
    DNSEndpoint(key) {
      const object = endpoints.current?.get(key);
      return object && objectRecords(object, endpointObjectRecords(object));
    },
  };
  return {
    recordsOf: (kind, key) => recordsOf[kind](key),
    settled: endpoints.settled,
    close() {
      endpoints.stop();
      for (const end of ends) end();
    },
  };
}

function objectRecords(object: KubeObject, result: RecordResult): ObjectRecords {
  const source = `${object.kind} ${keyOf(object.metadata)}`;
  const since = object.metadata.creationTimestamp ?? '';
  return { source, claimGroup: source, object, since, result, reason: 'NameInvalid' };
}

function ifAnnotated(annotation: string): (object: KubeObject) => string[] {
  return ({ metadata }) => (metadata.annotations?.[annotation] === undefined ? [] : [keyOf(metadata)]);
}

function annotatedServiceOf({ metadata }: EndpointSlice, services: Cache<Service>): string[] {
  const { namespace = '', labels } = metadata;
  const name = labels?.[SERVICE_NAME_LABEL];
  const service = name === undefined ? undefined : services.get(keyOf({ namespace, name }));
  return service ? ifAnnotated(FQDN_ANNOTATION)(service) : [];
}
