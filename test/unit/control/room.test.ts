/** How much a proxy can have, given that its configuration is one Secret. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { Plan } from '../../../src/control/proxy/plan.ts';
import { MAX_CONFIG_BYTES } from '../../../src/control/proxy/room.ts';
import { createAuthority } from '../../support/pki.ts';
import { createMemoryCluster } from './memory.ts';
import type { MemoryCluster } from './memory.ts';

const PROXY = { namespace: 'default', name: 'p' };
const NOW = Date.now();

const object = (
  kind: string,
  name: string,
  rest: object,
  apiVersion = 'kroxylicious.io/v1alpha1',
): AnyObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default', uid: name, generation: 1 },
  ...rest,
});

const nameOf = (index: number) => `cluster-${String(index).padStart(4, '0')}`;

/** Virtual clusters of which each is older than the next, with so many bytes of certificates each. */
async function crowded(count: number, protocol: 'TCP' | 'TLS', certificateBytes = 0): Promise<MemoryCluster> {
  const memory = createMemoryCluster();
  const proxyRef = { name: 'p' };
  memory.put(object('KafkaProxy', 'p', { spec: {} }));
  memory.put(object('KafkaProxyIngress', 'in', { spec: { proxyRef, clusterIP: { protocol } } }));
  memory.put(object('KafkaClusterRef', 'kafka', { spec: { bootstrap: 'kafka-bootstrap.kafka.svc:9092' } }));
  if (protocol === 'TLS') memory.put(await certificate(certificateBytes));
  const tls = protocol === 'TLS' ? { tls: { certificateRefs: [{ name: 'cert' }] } } : {};
  for (let index = 0; index < count; index++) {
    const targetCluster = { clusterRef: { name: 'kafka' } };
    const cluster = object('VirtualKafkaCluster', nameOf(index), {
      spec: { proxyRef, ingresses: [{ name: 'in', ...tls }], targetCluster },
    });
    const creationTimestamp = new Date(NOW - 1e9 + index * 1000).toISOString();
    memory.put({ ...cluster, metadata: { ...cluster.metadata, creationTimestamp } });
  }
  return memory;
}

async function certificate(bytes: number): Promise<AnyObject> {
  const authority = await createAuthority('room');
  const { certPem, keyPem } = await authority.issue({
    commonName: 'x',
    dns: ['*.default.svc.cluster.local'],
  });
  const chain = certPem.repeat(Math.ceil(bytes / certPem.length));
  const encode = (text: string) => Buffer.from(text).toString('base64');
  return object('Secret', 'cert', { data: { 'tls.crt': encode(chain), 'tls.key': encode(keyPem) } }, 'v1');
}

const sizeOf = ({ config }: Plan) => Buffer.byteLength(config.text);

function acceptedOf(plan: Plan, name: string): { status: string; reason: string } {
  const { status } = plan.statuses.find((one) => one.name === name && one.kind === 'VirtualKafkaCluster')!;
  const { conditions } = status as { conditions: { type: string; status: string; reason: string }[] };
  return conditions.find(({ type }) => type === 'Accepted')!;
}

suite('room in a Secret', () => {
  test('a thousand virtual clusters over TCP have room in one proxy', async (t) => {
    const plan = (await crowded(1000, 'TCP')).plan(PROXY, NOW);
    t.diagnostic(`${Math.round(sizeOf(plan) / 1000)} bytes a virtual cluster`);
    assert.equal(plan.config.parts.size, 1000);
    assert.ok(sizeOf(plan) < MAX_CONFIG_BYTES, `${sizeOf(plan)} bytes`);
  });

  test('of more than have room the oldest are served, as many as have; and the next when one goes', async (t) => {
    const memory = await crowded(300, 'TLS', 5000);
    const plan = memory.plan(PROXY, NOW);
    const served = plan.config.parts.size;
    t.diagnostic(`${served} virtual clusters with 5 kB of certificates each`);
    assert.ok(sizeOf(plan) <= MAX_CONFIG_BYTES);
    assert.ok(sizeOf(plan) + sizeOf(plan) / served > MAX_CONFIG_BYTES, 'there would have been room for more');
    assert.equal(acceptedOf(plan, nameOf(served - 1)).status, 'True');
    assert.deepEqual(
      [served, 299].map((index) => acceptedOf(plan, nameOf(index)).reason),
      ['ConfigTooLarge', 'ConfigTooLarge'],
    );
    // Its Service and its ports stay, whatever becomes of it.
    assert.ok(
      plan.objects.some(({ kind, metadata }) => kind === 'Service' && metadata.name === `${nameOf(299)}-in`),
    );
    memory.delete('VirtualKafkaCluster', `default/${nameOf(7)}`);
    const next = memory.plan(PROXY, NOW);
    assert.equal(acceptedOf(next, nameOf(served)).status, 'True');
    assert.equal(next.config.parts.size, served);
  });
});
