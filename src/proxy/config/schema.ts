import { z } from 'zod';
import { duration } from '../../ops/duration.ts';
import { FIELD_PATTERN, MAX_PACKAGE_NAME, PACKAGE_NAME } from '../../ops/filter-module.ts';

/**
 * What a configuration file may hold: the file of Kroxylicious for the features we share, and a few keys of our own
 * (marked +). Every object is strict, so that a misspelt key is an error and not a silent default.
 */

const port = z.int().min(1).max(65_535);

/** `host:port`; an IPv6 host in brackets. */
export const address = z.string().transform((text, context) => {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(text.trim());
  const number = Number(match?.[2]);
  if (match && number >= 1 && number <= 65_535)
    return { host: match[1]!.replace(/^\[|\]$/g, ''), port: number };
  context.addIssue({ code: 'custom', message: 'must be host:port with a port of 1 to 65535' });
  return z.NEVER;
});

const addressList = z
  .string()
  .transform((text) => text.split(',').map((part) => part.trim()))
  .pipe(z.array(address).min(1));

const network = z.union(
  [z.cidrv4(), z.cidrv6()],
  'must be a network in CIDR notation, such as 10.0.0.0/8 or fd00::/8',
);

const isHostPattern = (text: string) =>
  /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(text) && !/(^|\.)\d+$/.test(text);

/** A network, an address, a host name, or `*.` and a domain. */
const allowedTarget = z
  .string()
  .max(253)
  .refine(
    (text) =>
      z.union([z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()]).safeParse(text).success || isHostPattern(text),
    'must be a network (10.0.0.0/8), an address, a host name, or a pattern such as *.kafka.svc',
  );

/** A value in the file, or the name of a file that has it. */
const secretValue = z.union([
  z.strictObject({ password: z.string() }),
  z.strictObject({ passwordFile: z.string() }),
]);

/** + PEM in place, or the name of one in `pem`: a certificate that many virtual clusters use is then there only once. */
const pem = z.union([z.string(), z.strictObject({ pem: z.string() })], 'must be PEM, or {pem: NAME}');

const key = z.union(
  [
    z.strictObject({
      storeFile: z.string(),
      storePassword: secretValue.optional(),
      keyPassword: secretValue.optional(),
      storeType: z.string().optional(),
    }),
    z.strictObject({
      privateKeyFile: z.string(),
      certificateFile: z.string(),
      keyPassword: secretValue.optional(),
    }),
    z.strictObject({ privateKey: pem, certificate: pem, keyPassword: secretValue.optional() }),
  ],
  'must have storeFile, or privateKeyFile and certificateFile, or privateKey and certificate (PEM)',
);

const trustOptions = z.strictObject({ clientAuth: z.enum(['REQUIRED', 'REQUESTED', 'NONE']) });

const trust = z.union(
  [
    z.strictObject({
      storeFile: z.string(),
      storePassword: secretValue.optional(),
      storeType: z.string().optional(),
      trustOptions: trustOptions.optional(),
    }),
    z.strictObject({ certificates: pem, trustOptions: trustOptions.optional() }),
    z.strictObject({ insecure: z.boolean() }),
  ],
  'must have storeFile, or certificates (PEM), or insecure',
);

const allowDeny = z.strictObject({
  allowed: z.array(z.string()).optional(),
  denied: z.array(z.string()).optional(),
});

const tlsRules = { cipherSuites: allowDeny.optional(), protocols: allowDeny.optional() };

/** + `key` may be a list: the certificate is chosen by the name that the client asks for. */
const serverTls = z.strictObject({
  key: z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(key).min(1)),
  trust: trust.optional(),
  ...tlsRules,
});
const clientTls = z.strictObject({ key: key.optional(), trust: trust.optional(), ...tlsRules });

const target = {
  bootstrapServers: addressList,
  bootstrapServerSelection: z.strictObject({ strategy: z.enum(['round-robin', 'random']) }).optional(),
  tls: clientTls.optional(),
};

const portIdentifiesNode = z.strictObject({
  bootstrapAddress: address,
  advertisedBrokerAddressPattern: z.string().optional(),
  nodeStartPort: port.optional(),
  brokerStartPort: port.optional(),
  nodeIdRanges: z
    .array(
      z
        .strictObject({
          name: z.string().optional(),
          start: z.int().min(0),
          end: z.int().min(0),
          /** + where its ports begin, counted from nodeStartPort; else they follow those of the range before */
          portOffset: z.int().min(0).max(65_535).optional(),
        })
        .refine(({ start, end }) => start <= end, 'start must not be above end'),
    )
    .min(1)
    .optional(),
  /** + the local ports, where a Service or a load balancer in front has others */
  listen: z.strictObject({ bootstrapPort: port, nodeStartPort: port }).optional(),
});

const sniHostIdentifiesNode = z.strictObject({
  bootstrapAddress: address,
  advertisedBrokerAddressPattern: z.string(),
  /** + as above */
  listenPort: port.optional(),
});

const proxyProtocol = z.strictObject({
  mode: z.enum(['disabled', 'allowed', 'required']),
  /** + the load balancers whose headers are believed */
  trustedSources: z.array(network).optional(),
});

const gateway = z.strictObject({
  name: z.string().min(1),
  /** + */
  bindAddress: z.string().optional(),
  portIdentifiesNode: portIdentifiesNode.optional(),
  sniHostIdentifiesNode: sniHostIdentifiesNode.optional(),
  tls: serverTls.optional(),
  /** + in place of that of the whole proxy */
  proxyProtocol: proxyProtocol.optional(),
});

const name = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i, 'must be a DNS label: letters, digits and -, at most 63');

export const virtualClusterSchema = z.strictObject({
  name,
  targetCluster: z.strictObject(target).optional(),
  target: z.strictObject({ cluster: z.string() }).optional(),
  gateways: z.array(gateway).min(1),
  filters: z.array(z.string()).optional(),
  drainTimeout: duration.optional(),
  logNetwork: z.boolean().optional(),
  logFrames: z.boolean().optional(),
  topicNameCache: z.unknown().optional(),
  subjectBuilder: z.unknown().optional(),
});

const networkOptions = z.strictObject({
  workerThreadCount: z.int().min(1).optional(),
  shutdownQuietPeriod: duration.optional(),
  shutdownTimeout: duration.optional(),
  authenticatedIdleTimeout: duration.optional(),
  unauthenticatedIdleTimeout: duration.optional(),
});

/** At least what a login may need. */
const bufferedBytes = z.int().min(1_048_576);

const limits = z.strictObject({
  maxConnections: z.int().min(0).optional(),
  maxConnectionsPerAddress: z.int().min(0).optional(),
  maxConnectionsPerVirtualCluster: z.int().min(0).optional(),
  maxFrameBytes: z.int().min(1024).max(0x7fff_ffff).optional(),
  /** Of all workers together, as is the next one. */
  maxBufferedBytes: bufferedBytes.optional(),
  maxBufferedBytesPerVirtualCluster: bufferedBytes.optional(),
  maxBufferedBytesPerConnection: bufferedBytes.optional(),
  connectTimeout: duration.optional(),
  handshakeTimeout: duration.optional(),
  idleTimeout: duration.optional(),
  unauthenticatedIdleTimeout: duration.optional(),
});

/** + a package that filters may come from */
const filterModule = z.strictObject({
  name: z
    .string()
    .max(MAX_PACKAGE_NAME)
    .regex(PACKAGE_NAME, 'must be the name of an npm package, not a path or an address'),
  secretFields: z.array(z.string().regex(FIELD_PATTERN, 'must be names with dots between them')).optional(),
});

export const configSchema = z.strictObject({
  management: z
    .strictObject({
      bindAddress: z.string().optional(),
      port: z.int().min(0).max(65_535).optional(),
      /** + who has the token in this file sees everything, and who has that in the other one the metrics */
      tokenFile: z.string().min(1).optional(),
      metricsTokenFile: z.string().min(1).optional(),
      /** + for those who speak TLS; plain HTTP is served beside it */
      tls: z.strictObject({ certificateFile: z.string().min(1), keyFile: z.string().min(1) }).optional(),
      endpoints: z.strictObject({ prometheus: z.unknown().optional() }).nullish(),
    })
    .optional(),
  clusterDefinitions: z.array(z.strictObject({ name, ...target })).optional(),
  filterDefinitions: z
    .array(
      z.strictObject({ name: z.string().min(1), type: z.string().min(1), config: z.unknown().optional() }),
    )
    .optional(),
  defaultFilters: z.array(z.string()).optional(),
  // Each is looked at by itself, so that a mistake in one is not all others' problem.
  virtualClusters: z.array(z.looseObject({ name })),
  network: z
    .strictObject({ proxy: networkOptions.optional(), management: networkOptions.optional() })
    .optional(),
  proxyProtocol: proxyProtocol.optional(),
  micrometer: z.unknown().optional(),
  useIoUring: z.boolean().optional(),
  /** + the rest is ours */
  workers: z.int().min(1).max(256).optional(),
  limits: limits.optional(),
  filterModules: z.array(filterModule).optional(),
  targetPolicy: z
    .strictObject({
      allow: z.array(allowedTarget).max(256).optional(),
      bootstrap: z.enum(['named', 'checked']).optional(),
      identityHosts: z
        .array(
          z.string().max(253).refine(isHostPattern, 'must be a host name or a pattern such as *.example.com'),
        )
        .max(256)
        .optional(),
    })
    .optional(),
  unknownApis: z.enum(['pass', 'refuse']).optional(),
  pem: z.record(z.string(), z.string()).optional(),
});

export type ConfigDocument = z.output<typeof configSchema>;
export type ClusterDocument = z.output<typeof virtualClusterSchema>;
export type GatewayDocument = z.output<typeof gateway>;
export type ServerTlsDocument = z.output<typeof serverTls>;
export type ClientTlsDocument = z.output<typeof clientTls>;
export type KeyDocument = z.output<typeof key>;
export type TrustDocument = z.output<typeof trust>;
export type PemDocument = z.output<typeof pem>;
export type SecretDocument = z.output<typeof secretValue>;
