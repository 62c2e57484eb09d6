import { isIP } from 'node:net';
import { z } from 'zod';
import { parseNetwork } from './networks.ts';
import { formatName, parseName } from '../wire/name.ts';
import { TSIG_ALGORITHMS } from '../wire/tsig.ts';
import { recordSchema, ttlSchema } from '../zone/records-file.ts';
import type { Network } from './networks.ts';
import type { ZoneSpec } from '../zone/store-state.ts';

/** Private and local networks: an attacker outside gains nothing from responses to a forged address there. */
const PRIVATE_NETWORKS = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

const port = z.int().min(0).max(65_535);

const domainName = z
  .string()
  .refine((text) => parseName(text) !== undefined, { error: 'is not a domain name' })
  .transform((text) => parseName(text)!);

const network = z
  .string()
  .refine((text) => parseNetwork(text) !== undefined, {
    error: 'is not a network such as 10.0.0.0/8 or an address',
  })
  .transform((text): Network => parseNetwork(text)!);

const listenAddress = z.string().transform((text, context) => {
  const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const address = parts?.[1] ?? parts?.[2] ?? '';
  if (isIP(address) === 0 || Number(parts?.[3]) > 65_535) {
    context.addIssue('is not an address and port such as 0.0.0.0:53 or [::]:53');
    return z.NEVER;
  }
  return { address, port: Number(parts?.[3]) };
});

/** The address of another DNS server, with or without its port. */
const serverAddress = z.string().transform((text, context) => {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const parsed = listenAddress.safeParse(text);
  if (parsed.success) return parsed.data;
  context.addIssue('is not an address such as 10.96.0.10, 10.96.0.10:5353 or [fd00::10]:53');
  return z.NEVER;
});

const zone = z.strictObject({
  name: domainName,
  /** Host names of this zone's name servers; `ns.<zone>` if none are given. Their addresses are ordinary records. */
  nameservers: z.array(domainName).default([]),
  contact: domainName.optional(),
  ttl: ttlSchema.default(30),
  negativeTtl: ttlSchema.default(10),
  refresh: ttlSchema.default(3600),
  retry: ttlSchema.default(600),
  expire: ttlSchema.default(86_400),
});

/** The document that `isthmus dns --config FILE` reads. */
export const dnsConfigSchema = z.strictObject({
  listen: z.array(listenAddress).min(1).prefault(['[::]:53']),
  zones: z.array(zone).min(1),
  records: z.array(recordSchema).default([]),
  /** A YAML file with the one key `records`, reloaded when it changes; a large one should be .json, since parsing YAML takes a kilobyte of memory a word. */
  recordsFile: z.string().optional(),
  /** Where the records of clusters are kept on disk, to be served after a restart until they have been read again. */
  snapshotFile: z.string().optional(),
  /** Threads that answer over UDP, all on the same port. */
  workers: z.int().min(1).max(64).default(1),
  /**
   * `fast`: many datagrams a system call (Linux); `portable`: one; `auto`: fast where it is available. On a machine with
   * several addresses `portable` should listen on each of them: it cannot choose the one that it responds from.
   */
  udp: z.enum(['auto', 'fast', 'portable']).default('auto'),
  maxUdpPayload: z.int().min(512).max(4096).default(1232),
  rateLimit: z
    .strictObject({
      responsesPerSecond: z.int().min(1).max(10_000_000).default(1000),
      slip: z.int().min(0).max(100).default(2),
      exempt: z.array(network).prefault(PRIVATE_NETWORKS),
    })
    .nullable()
    .prefault({}),
  tcp: z
    .strictObject({
      idleSeconds: z.number().min(0.1).max(3600).default(10),
      maxConnections: z.int().min(1).max(100_000).default(1024),
      maxConnectionsPerClient: z.int().min(1).max(100_000).default(128),
    })
    .prefault({}),
  /**
   * Whom to ask for the addresses of an alias's target outside of our zones: those in /etc/resolv.conf (`system`), those listed,
   * or nobody (`none`), which leaves it to clients. Nothing else is ever asked for.
   */
  resolver: z.union([z.enum(['system', 'none']), z.array(serverAddress).min(1).max(8)]).optional(),
  /** Who may transfer whole zones (AXFR) without a key; nobody unless listed. */
  transferAllow: z.array(network).default([]),
  /** Keys that transfers and notifications are signed with (TSIG); the secret is in a file of its own, in base64. */
  tsigKeys: z
    .array(
      z.strictObject({
        name: domainName,
        algorithm: z.enum(TSIG_ALGORITHMS).default('hmac-sha256'),
        secretFile: z.string().min(1),
      }),
    )
    .max(64)
    .default([]),
  /** Who signs with one of these keys may transfer whole zones, from anywhere. */
  transferKeys: z.array(domainName).default([]),
  /** Secondaries that are told when a zone has changed (NOTIFY), signed with a key if one is named. */
  notify: z
    .array(z.strictObject({ address: serverAddress, key: domainName.optional() }))
    .max(64)
    .default([]),
  /** 32 hexadecimal digits each; the first signs, all are accepted. Random if absent: give one to replicas behind one address. */
  cookieSecrets: z.array(z.string().regex(/^[0-9a-fA-F]{32}$/, 'must be 32 hexadecimal digits')).default([]),
  /** How long to go on answering after the signal to stop, while clients learn of it. */
  drainSeconds: z.number().min(0).max(600).default(0),
  /** Who has the token in `tokenFile` sees everything, and who has that in the other one the metrics; without, it is for this machine. */
  management: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port,
      tokenFile: z.string().min(1).optional(),
      metricsTokenFile: z.string().min(1).optional(),
    })
    .optional(),
});

export type DnsConfig = z.output<typeof dnsConfigSchema>;

/** A configured zone as the store takes it, with its default names. */
export function zoneSpecOf(config: DnsConfig['zones'][number]): ZoneSpec {
  const under = (label: string) => parseName(`${label}.${formatName(config.name)}`) ?? config.name;
  const nameservers = config.nameservers.length > 0 ? config.nameservers : [under('ns')];
  return {
    name: config.name,
    ttl: config.ttl,
    soaTtl: config.ttl,
    nameservers,
    soa: {
      primary: nameservers[0]!,
      contact: config.contact ?? under('hostmaster'),
      refresh: config.refresh,
      retry: config.retry,
      expire: config.expire,
      negativeTtl: config.negativeTtl,
    },
  };
}
