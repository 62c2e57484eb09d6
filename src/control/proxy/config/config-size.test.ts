/** How much a proxy can have, given that its configuration is one Secret. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../../kube/object.ts';
import type { ProxyDocument } from './document.ts';
import type { ProxyPlan } from '../plan.ts';
import { MAX_CONFIG_BYTES } from './config-size.ts';
import { createAuthority } from '../../../../test/support/pki.ts';
import { createMemoryCluster, objectsIn } from '../../../../test/support/control/memory-cluster.ts';
import type { MemoryCluster } from '../../../../test/support/control/memory-cluster.ts';

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

interface Crowd {
  count: number;
  /** How many bytes a certificate has, and how many different ones there are; without it, they speak TCP. */
  certificates?: { bytes: number; different: number };
}

/** Virtual clusters of which each is older than the next. */
async function crowded({ count, certificates }: Crowd): Promise<MemoryCluster> {
  const protocol = certificates ? 'TLS' : 'TCP';
  const memory = createMemoryCluster();
  const proxyRef = { name: 'p' };
  memory.put(object('KafkaProxy', 'p', { spec: {} }));
  memory.put(object('KafkaProxyIngress', 'in', { spec: { proxyRef, clusterIP: { protocol } } }));
  memory.put(object('KafkaClusterRef', 'kafka', { spec: { bootstrap: 'kafka-bootstrap.kafka.svc:9092' } }));
  const { bytes = 0, different = 0 } = certificates ?? {};
  const issued = certificates ? await issue(bytes) : undefined;
  for (let index = 0; index < different; index++) memory.put(secret(index, issued!));
  for (let index = 0; index < count; index++) {
    const tls = certificates && { tls: { certificateRefs: [{ name: `cert-${index % different}` }] } };
    const targetCluster = { clusterRef: { name: 'kafka' } };
    const cluster = object('VirtualKafkaCluster', nameOf(index), {
      spec: { proxyRef, ingresses: [{ name: 'in', ...tls }], targetCluster },
    });
    const creationTimestamp = new Date(NOW - 1e9 + index * 1000).toISOString();
    memory.put({ ...cluster, metadata: { ...cluster.metadata, creationTimestamp } });
  }
  return memory;
}

interface Issued {
  chain: string;
  key: string;
}

async function issue(bytes: number): Promise<Issued> {
  const authority = await createAuthority('room');
  const { certPem, keyPem } = await authority.issue({
    commonName: 'x',
    dns: ['*.default.svc.cluster.local'],
  });
  return { chain: certPem.repeat(Math.ceil(bytes / certPem.length)), key: keyPem };
}

/** A comment tells one from the other: to issue each would take long. */
function secret(index: number, { chain, key }: Issued): AnyObject {
  const encode = (text: string) => Buffer.from(`# ${index}\n${text}`).toString('base64');
  const data = { 'tls.crt': encode(chain), 'tls.key': encode(key) };
  return object('Secret', `cert-${index}`, { data }, 'v1');
}

const sizeOf = ({ config }: ProxyPlan) => Buffer.byteLength(config.text);

function acceptedOf(plan: ProxyPlan, name: string): { status: string; reason: string } {
  const { status } = plan.statuses.find((one) => one.name === name && one.kind === 'VirtualKafkaCluster')!;
  const { conditions } = status as { conditions: { type: string; status: string; reason: string }[] };
  return conditions.find(({ type }) => type === 'Accepted')!;
}

suite('room in a Secret', () => {
  test('a thousand virtual clusters over TCP have room in one proxy', async (t) => {
    const plan = (await crowded({ count: 1000 })).plan(PROXY, NOW);
    t.diagnostic(`${Math.round(sizeOf(plan) / 1000)} bytes a virtual cluster`);
    assert.equal(plan.config.parts.size, 1000);
    assert.ok(sizeOf(plan) < MAX_CONFIG_BYTES, `${sizeOf(plan)} bytes`);
  });

  test('of more than have room the oldest are served, as many as have; and the next when one goes', async (t) => {
    const memory = await crowded({ count: 300, certificates: { bytes: 5000, different: 300 } });
    const plan = memory.plan(PROXY, NOW);
    const served = plan.config.parts.size;
    t.diagnostic(`${served} virtual clusters with 5 kB of certificates each`);
    assert.ok(sizeOf(plan) <= MAX_CONFIG_BYTES);
    const forNew = MAX_CONFIG_BYTES * (15 / 16);
    assert.ok(sizeOf(plan) <= forNew);
    assert.ok(sizeOf(plan) + sizeOf(plan) / served > forNew, 'there would have been room for more');
    assert.equal(acceptedOf(plan, nameOf(served - 1)).status, 'True');
    assert.deepEqual(
      [served, 299].map((index) => acceptedOf(plan, nameOf(index)).reason),
      ['ConfigTooLarge', 'ConfigTooLarge'],
    );
    // Its Service and its ports stay, whatever becomes of it.
    assert.ok(
      objectsIn(plan).some(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === `${nameOf(299)}-in`,
      ),
    );
    memory.delete('VirtualKafkaCluster', `default/${nameOf(7)}`);
    const next = memory.plan(PROXY, NOW);
    assert.equal(acceptedOf(next, nameOf(served)).status, 'True');
    assert.equal(next.config.parts.size, served);
  });

  test('a certificate that all of them use is there once, and a thousand of them have room', async (t) => {
    const plan = (await crowded({ count: 2000, certificates: { bytes: 5000, different: 1 } })).plan(
      PROXY,
      NOW,
    );
    t.diagnostic(`${plan.config.parts.size} virtual clusters with one certificate of 5 kB`);
    assert.ok(plan.config.parts.size > 1000);
    assert.ok(sizeOf(plan) <= MAX_CONFIG_BYTES);
    const { pem = {} } = JSON.parse(plan.config.text) as ProxyDocument;
    assert.equal(Object.keys(pem).length, 2);
  });

  test('with few large ones and many who wait for room, it never has more than it may', async () => {
    for (const bytes of [20_000, 103_000, 200_000]) {
      const memory = await crowded({ count: 60, certificates: { bytes, different: 60 } });
      const plan = memory.plan(PROXY, NOW);
      assert.ok(sizeOf(plan) <= MAX_CONFIG_BYTES, `${sizeOf(plan)} bytes`);
      assert.ok(sizeOf(plan) > (MAX_CONFIG_BYTES * 15) / 16 - bytes * 1.5, `only ${sizeOf(plan)} bytes`);
    }
  });

  test('where nothing new has room, all that are served get their new certificates, if those are a little larger, too', async () => {
    const memory = await crowded({ count: 300, certificates: { bytes: 5000, different: 300 } });
    const before = memory.plan(PROXY, NOW);
    for (const written of objectsIn(before)) if (written.kind === 'Secret') memory.put(written);
    const served = before.config.parts.size;
    const { chain, key } = await issue(5000);
    // As many bytes more as a name more in each would take.
    const renewed = { chain: `# renewed: ${'x'.repeat(100)}\n${chain}`, key };
    for (let index = 0; index < served; index++) memory.put(secret(index, renewed));
    const after = memory.plan(PROXY, NOW);
    assert.equal(after.config.parts.size, served);
    assert.equal(after.config.text.split('# renewed').length - 1, served);
    assert.ok(sizeOf(after) <= MAX_CONFIG_BYTES && sizeOf(after) > (MAX_CONFIG_BYTES * 15) / 16);
    for (let index = 0; index < served; index++)
      assert.equal(acceptedOf(after, nameOf(index)).status, 'True', nameOf(index));
  });

  test('none comes to have more than a quarter of it; what is served goes on as it was', async () => {
    const memory = await crowded({ count: 5, certificates: { bytes: 5000, different: 5 } });
    const served = memory.plan(PROXY, NOW);
    for (const written of objectsIn(served)) if (written.kind === 'Secret') memory.put(written);
    const large = await issue(300_000);
    memory.put(secret(0, large));
    const grown = memory.plan(PROXY, NOW);
    assert.deepEqual([grown.config.parts.size, acceptedOf(grown, nameOf(0)).reason], [5, 'ConfigTooLarge']);
    assert.equal(grown.config.parts.get(nameOf(0))?.hash, served.config.parts.get(nameOf(0))?.hash);
    const fresh = await crowded({ count: 5, certificates: { bytes: 5000, different: 5 } });
    fresh.put(secret(0, large));
    const plan = fresh.plan(PROXY, NOW);
    assert.deepEqual([...plan.config.parts.keys()], [1, 2, 3, 4].map(nameOf));
    assert.match(JSON.stringify(plan.statuses), /more than a quarter of the configuration/);
  });
});
