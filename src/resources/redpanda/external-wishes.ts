/** The ways to ask for an external Kafka listener, which must not contradict each other: whichever went before, its owner might have meant the other. */
import type { Rule } from '../schema.ts';

interface Listener {
  external?: { enabled: boolean; subdomain?: string };
}

interface Connectivity {
  enabled?: boolean;
  subdomain?: string;
  hostPattern?: string;
}

interface Asking {
  spec: {
    externalDNSSubdomain?: string;
    externalConnectivity?: Connectivity;
    configuration: { kafkaApi?: readonly Listener[] };
  };
}

export const isExternal = ({ external }: Listener): boolean => external?.enabled === true;

const externalIn = ({ spec }: Asking) => (spec.configuration.kafkaApi ?? []).filter(isExternal);

const ZONE = 'self.spec.externalDNSSubdomain';
const CONNECTIVITY = 'self.spec.externalConnectivity';
const NO_CONNECTIVITY = `!has(${CONNECTIVITY})`;
const NOT_OFF = `${NO_CONNECTIVITY} || !has(${CONNECTIVITY}.enabled) || ${CONNECTIVITY}.enabled || has(${CONNECTIVITY}.subdomain) || has(${CONNECTIVITY}.hostPattern)`;
/** Beside what is for access from outside alone, `false` may be a default that an API server once wrote. */
const isOff = (asked: Connectivity | undefined): boolean =>
  asked?.enabled === false && asked.subdomain === undefined && asked.hostPattern === undefined;
/** That each Kafka listener is for clients inside, or this. */
const others = (more = 'false') =>
  `!has(self.spec.configuration.kafkaApi) || self.spec.configuration.kafkaApi.all(a, !has(a.external) || !has(a.external.enabled) || !a.external.enabled || ${more})`;
const within = (zone: string) => others(`(has(a.external.subdomain) && a.external.subdomain == ${zone})`);

export const oneWish: readonly Rule<Asking>[] = [
  {
    cel: `!has(${ZONE}) || ${NO_CONNECTIVITY} || !has(${CONNECTIVITY}.subdomain) || ${CONNECTIVITY}.subdomain == ${ZONE}`,
    holds: ({ spec: { externalDNSSubdomain: zone, externalConnectivity } }) =>
      zone === undefined || (externalConnectivity?.subdomain ?? zone) === zone,
    message: 'name one subdomain: in externalDNSSubdomain or in externalConnectivity',
  },
  {
    cel: `!has(${ZONE}) || ${NOT_OFF}`,
    holds: ({ spec: { externalDNSSubdomain, externalConnectivity } }) =>
      externalDNSSubdomain === undefined || !isOff(externalConnectivity),
    message:
      'remove externalDNSSubdomain or externalConnectivity.enabled: one asks for names outside, the other is false',
  },
  {
    cel: `${NOT_OFF} || ${others()}`,
    holds: (asking) => !isOff(asking.spec.externalConnectivity) || externalIn(asking).length === 0,
    message:
      'remove externalConnectivity.enabled or the external listener of configuration.kafkaApi: one is false, the other true',
  },
  {
    cel: `!has(${ZONE}) || ${within(ZONE)}`,
    holds: (asking) => isZoneOf(externalIn(asking), asking.spec.externalDNSSubdomain),
    message:
      'name one subdomain: in externalDNSSubdomain or in the external listener of configuration.kafkaApi',
  },
  {
    cel: `${NO_CONNECTIVITY} || !has(${CONNECTIVITY}.subdomain) || ${within(`${CONNECTIVITY}.subdomain`)}`,
    holds: (asking) => isZoneOf(externalIn(asking), asking.spec.externalConnectivity?.subdomain),
    message:
      'name one subdomain: in externalConnectivity or in the external listener of configuration.kafkaApi',
  },
];

const isZoneOf = (listeners: readonly Listener[], zone: string | undefined): boolean =>
  zone === undefined || listeners.every(({ external }) => external?.subdomain === zone);
