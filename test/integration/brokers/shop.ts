/** A cluster of two brokers that has topics and users, and what their tests ask of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin, AdminOptions } from '../../../src/kafka/admin/admin.ts';
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished } from '../../../src/store/embedded/process.ts';
import { javaConfig } from '../../support/clients/java.ts';
import { kafkaTool } from '../../support/kafka/tools.ts';
import type { KafkaTool } from '../../support/kafka/tools.ts';
import { workspace } from '../../support/workspace.ts';
import { PATIENCE, entity as entityOf, kafka, nodePool } from './fixture.ts';
import type { Bed } from './fixture.ts';

const BOOTSTRAP = 'shop-kafka-bootstrap.default.svc';
const LISTENERS = [
  { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
  { name: 'scram', port: 9094, type: 'internal', tls: false, authentication: { type: 'scram-sha-512' } },
];

/** Each pool has its own rack, which its containers have as a variable. */
const poolIn = (rack: string, name: string, spec: object = {}) =>
  nodePool('shop', name, {
    ...spec,
    template: { kafkaContainer: { env: [{ name: 'SHOP_RACK', value: rack }] } },
  });

/** The Kafka and its pools: node 0 is in the rack `left`, node 1 in the rack `right`. */
export const SHOP = [
  kafka(
    'shop',
    {
      listeners: LISTENERS,
      authorization: { type: 'simple' },
      rack: { type: 'environment-variable', envVarName: 'SHOP_RACK' },
    },
    { entityOperator: { topicOperator: {}, userOperator: {} } },
  ),
  poolIn('left', 'dual'),
  poolIn('right', 'more', { roles: ['broker'] }),
];

export const entity = (kind: string, name: string, spec: object) => entityOf(kind, name, 'shop', spec);

/** All that can be done with topics whose names begin so. */
export const mayAll = (name: string) => ({
  type: 'simple',
  acls: [{ resource: { type: 'topic', name, patternType: 'prefix' }, operations: ['All'] }],
});

interface EntityStatus {
  observedGeneration?: number;
  topicId?: string;
  username?: string;
  secret?: string;
  conditions?: { type: string; status: string; reason: string }[];
}

/** Waits until a resource says that it is ready, or not because of `reason`, for the spec that it has now. */
export const untilReason = (bed: Bed, kind: string, name: string, reason = 'Ready'): Promise<EntityStatus> =>
  waitFor(
    `${kind} ${name} is ${reason}`,
    async () => {
      const found = await bed.get(kind, name);
      const status = (found?.['status'] ?? {}) as EntityStatus;
      const isCurrent = found !== undefined && status.observedGeneration === found.metadata.generation;
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      return isCurrent && ready?.reason === reason ? status : undefined;
    },
    PATIENCE,
  );

/** A file with what a key of a Secret holds, as a pod would mount it. */
export async function mounted(bed: Bed, name: string, key: string): Promise<string> {
  const file = join(workspace('secret'), key);
  await writeFile(file, await bed.secretBytes(name, key), { mode: 0o600 });
  return file;
}

/** What one of Kafka's own tools says to a user with these properties. */
export async function javaTool(
  bed: Bed,
  tool: KafkaTool,
  { port, properties, args, stdin }: { port: number; properties: Properties; args: string[]; stdin?: string },
): Promise<Finished> {
  const config = await javaConfig(properties);
  const at = ['--bootstrap-server', `${BOOTSTRAP}:${port}`, '--command-config', config];
  const options = { stdin, hostsFile: bed.runner.hostsFile, timeoutMs: 300_000 };
  return kafkaTool(tool, [...at, ...args], options);
}

/** Connects to the first broker, at one of its ports. */
export function connect(bed: Bed, port: number, options: Partial<AdminOptions>): Admin {
  const host = bed.runner.addressOf('default/shop-dual-0') ?? '';
  // The other broker is at an address that only pods resolve.
  const addressOf: AdminOptions['addressOf'] = () => undefined;
  return openAdmin({ bootstrap: [{ host, port, servername: BOOTSTRAP }], addressOf, ...options });
}

/** With a certificate, at the listener for those or at another. */
export async function withCertificate(
  bed: Bed,
  identity: { cert: string; key: string },
  port = 9093,
): Promise<Admin> {
  return connect(bed, port, { tls: { ca: await bed.secret('shop-cluster-ca-cert', 'ca.crt'), ...identity } });
}

/** As the operator itself, who may everything. */
export async function asOperator(bed: Bed): Promise<Admin> {
  const own = (key: string) => bed.secret('shop-cluster-operator-certs', `cluster-operator.${key}`);
  return withCertificate(bed, { cert: await own('crt'), key: await own('key') }, 9091);
}

/** With a password; the one in the user's Secret if none is given. */
export async function withPassword(bed: Bed, username: string, password?: string): Promise<Admin> {
  const known = password ?? (await bed.secret(username, 'password'));
  return connect(bed, 9094, { sasl: { mechanism: 'SCRAM-SHA-512', username, password: known } });
}
