/** The names that objects of this cluster claim for themselves. */
import type { Cache } from '../../../kube/cache/cache.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { dnsEndpoint } from '../../../resources/external-dns/dns-endpoint.ts';
import { endpointObjectRecords, serviceRecords, sliceRecords } from './annotated.ts';
import type { Member } from '../members/member.ts';
import { FQDN_ANNOTATION, HOSTNAME_ANNOTATION, SERVICE_NAME_LABEL } from '../names.ts';
import type { DnsEndpoint, EndpointSlice, Service } from '../objects.ts';
import { openOptional } from '../members/optional-cache.ts';
import type { Claimant } from './publisher.ts';
import type { Told } from './dns-record.ts';
import { trimOther } from '../members/trim.ts';

export const OWN_KINDS = ['Service', 'EndpointSlice', 'DNSEndpoint'] as const;
export type OwnKind = (typeof OWN_KINDS)[number];

export interface OwnNames {
  /** What an object claims; undefined if it claims nothing, or is gone. */
  claimantOf(kind: OwnKind, key: string): Claimant | undefined;
  readonly settled: Promise<void>;
  close(): void;
}

/** Follows the objects of the local cluster; `wake` gets kind and key of each of which something changed. */
export function openOwnNames(local: Member, log: Log, wake: (kind: OwnKind, key: string) => void): OwnNames {
  const { services, slices } = local;
  const ends: (() => void)[] = [];
  const endpoints = openOptional<DnsEndpoint>({
    cluster: local.cluster,
    kind: dnsEndpoint,
    trim: trimOther,
    log,
    onOpen: (cache) => void ends.push(cache.subscribe((key) => wake('DNSEndpoint', key))),
  });
  ends.push(
    services.subscribe((key) => wake('Service', key), { keysOf: ifAnnotated(FQDN_ANNOTATION) }),
    slices.subscribe((key) => wake('EndpointSlice', key), { keysOf: ifAnnotated(HOSTNAME_ANNOTATION) }),
    slices.subscribe((key) => wake('Service', key), {
      keysOf: (slice) => annotatedServiceOf(slice, services),
    }),
  );

  const claims: Record<OwnKind, (key: string) => Claimant | undefined> = {
    Service(key) {
      const object = services.get(key);
      return object && claimant(object, serviceRecords(object, local.slicesOf(key)));
    },
    EndpointSlice(key) {
      const object = slices.get(key);
      if (!object) return undefined;
      // Slices are pieces of a whole: those that one namespace gives one name stand together.
      const name = object.metadata.annotations?.[HOSTNAME_ANNOTATION]?.toLowerCase();
      const party = `EndpointSlices of ${name} in ${object.metadata.namespace}`;
      return { ...claimant(object, sliceRecords(object)), party };
    },
    DNSEndpoint(key) {
      const object = endpoints.current?.get(key);
      return object && claimant(object, endpointObjectRecords(object));
    },
  };
  return {
    claimantOf: (kind, key) => claims[kind](key),
    settled: endpoints.settled,
    close() {
      endpoints.stop();
      for (const end of ends) end();
    },
  };
}

function claimant(object: KubeObject, told: Told): Claimant {
  const source = `${object.kind} ${keyOf(object.metadata)}`;
  const since = object.metadata.creationTimestamp ?? '';
  return { source, party: source, object, since, told, reason: 'NameInvalid' };
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
