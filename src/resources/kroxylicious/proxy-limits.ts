/** What an admin limits on a proxy: what clients may cost, and where brokers may be. */
import { z } from 'zod';
import { text, withRules } from '../schema.ts';

const count = z.int().min(0).max(10_000_000);
const bytes = z.int().min(1_048_576).max(1_099_511_627_776);
const duration = text(32, {
  matching: /^([0-9]+(h|ms|m|s))+$/,
  otherwise: 'write a duration such as 30s, 1m30s or 500ms',
});

/** The proxy itself has the defaults, so that they are the same from a file; `docs/proxy.md` adds them up. */
export const proxyLimits = z.object({
  maxConnections: count
    .describe('Client connections of a pod; 10000 if left out, 0 is no limit.')
    .exactOptional(),
  maxConnectionsPerAddress: count
    .describe('Of those, from one IPv4 address or one /64 of IPv6; three quarters of them if left out.')
    .exactOptional(),
  maxConnectionsPerVirtualCluster: count
    .describe('Of those, to one virtual cluster; three quarters of them if left out.')
    .exactOptional(),
  maxFrameBytes: z
    .int()
    .min(1024)
    .max(0x7fff_ffff)
    .describe('The longest request; 104857600 (100 MiB) if left out.')
    .exactOptional(),
  maxBufferedBytes: bytes
    .describe(
      'What frames may take that a pod holds in memory, divided among its workers. If left out, what the pod’s memory limit has room for, and at most 128 MiB a worker.',
    )
    .exactOptional(),
  maxBufferedBytesPerVirtualCluster: bytes
    .describe('Of that, for one virtual cluster; three quarters of it if left out.')
    .exactOptional(),
  maxBufferedBytesPerConnection: bytes
    .describe('Of that, for one connection; 67108864 (64 MiB) if left out.')
    .exactOptional(),
  maxNodesPerVirtualCluster: z
    .int()
    .min(1)
    .max(1000)
    .describe(
      'How many brokers of one virtual cluster get ports of the proxy, at all its clusterIP ingresses together; 256 if left out. Those that have one keep it.',
    )
    .exactOptional(),
  connectTimeout: duration
    .describe('How long connecting to a broker may take; 10s if left out.')
    .exactOptional(),
  handshakeTimeout: duration
    .describe('How long a client may take over TLS and its PROXY header; 10s if left out.')
    .exactOptional(),
  idleTimeout: duration
    .describe('How long a connection may be silent; 10m if left out, 0s is no limit.')
    .exactOptional(),
  unauthenticatedIdleTimeout: duration
    .describe('The same before the broker has accepted the client; 1m if left out.')
    .exactOptional(),
  drainTimeout: duration
    .describe(
      'How long requests on their way may take when a connection is closed because a virtual cluster changes (10s if left out) or a pod ends (15s).',
    )
    .exactOptional(),
});

const NETWORK = 'write a network such as 10.0.0.0/8 or fd00::/8';
const isNetwork = (value: string) => z.union([z.cidrv4(), z.cidrv6()]).safeParse(value).success;
const isAddress = (value: string) => z.union([z.ipv4(), z.ipv6()]).safeParse(value).success;

/** A network. Whether the numbers in it are right, CEL cannot say everywhere. */
export const network = withRules(text(64, { matching: /^[0-9A-Fa-f:.]+\/[0-9]{1,3}$/, otherwise: NETWORK }), {
  holds: isNetwork,
  message: NETWORK,
});

const TARGET =
  'write a network such as 10.0.0.0/8, an address, a host name, or a pattern such as *.kafka.svc';
const HOST = /^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

const HOST_PATTERN = 'write a host name or a pattern such as *.example.com';
const isHost = (value: string) => HOST.test(value) && !/(^|\.)\d+$/.test(value);

const allowedTarget = withRules(
  text(253, {
    matching: /^((\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+(\/[0-9]{1,3})?)$/,
    otherwise: TARGET,
  }),
  {
    holds: (value) => isNetwork(value) || isAddress(value) || isHost(value),
    message: TARGET,
  },
);

export const targetPolicy = z.object({
  allow: z
    .array(allowedTarget)
    .max(256)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'Networks, addresses, host names and patterns `*.domain`; with any, only these. Loopback, link-local, multicast and metadata addresses have to be named by a network or address within their own range.',
    )
    .exactOptional(),
  identityHosts: z
    .array(
      withRules(text(253, { matching: HOST, otherwise: HOST_PATTERN }), {
        holds: isHost,
        message: HOST_PATTERN,
      }),
    )
    .max(256)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'Host names and patterns `*.domain` of key services to which filters may send what identifies the pods themselves: files of theirs, and what a metadata service says. None if left out.',
    )
    .exactOptional(),
});

export type ProxyProtocol = z.output<typeof proxyProtocol>;

export const proxyProtocol = withRules(
  z.object({
    mode: z
      .enum(['disabled', 'allowed', 'required'])
      .default('disabled')
      .describe('Whether a load balancer in front announces the client’s address by the PROXY protocol.'),
    trustedSources: z
      .array(network)
      .min(1)
      .max(64)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('The networks of the load balancers whose headers are believed.')
      .exactOptional(),
  }),
  {
    cel: "self.mode != 'allowed' || has(self.trustedSources)",
    holds: ({ mode, trustedSources }) => mode !== 'allowed' || trustedSources !== undefined,
    message:
      'name the networks of the load balancers in trustedSources: else every client could say that it is another',
    at: 'mode',
  },
);
