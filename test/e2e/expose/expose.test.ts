/**
 * Brokers of a real cluster, reached from outside by names that the real external-dns writes to a real BIND: straight to the node of
 * each, also after one has moved, and after the listener was switched off and on.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Finding } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { addExternalDns, startPublicZone } from '../../support/clusters/addons/public-dns.ts';
import type { PublicZone } from '../../support/clusters/addons/public-dns.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { followPage, readPage } from '../brokers/page.ts';
import { flowing } from '../java-writer.ts';
import type { Writer } from '../java-writer.ts';
import { startWriterOutside } from '../proxy/writers.ts';

const where = { namespace: 'kafka' };
const PATIENCE = { timeoutMs: 600_000, everyMs: 500 };
const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
/** As the page has it, but in the part of the internet's names that this machine has. */
const ZONE = 'kafka.example.test';
const IDS = [0, 1, 2];

type Pod = KubeObject & { spec: { nodeName?: string } };

describe('exposed brokers in a real cluster', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let zone: PublicZone;
  let bootstrap = '';
  let writer: Writer;
  let files: { ca: string; cert: string; key: string };
  const stack = new AsyncDisposableStack();
  before(async () => {
    clusters = stack.use(await startClusters(1, { nodes: 4, images: ['isthmus', 'kafka'] }));
    [cluster] = clusters.list as [Cluster];
    zone = stack.use(await startPublicZone(clusters, ZONE));
    await addExternalDns(cluster, zone);
  });
  after(() => stack.disposeAsync());

  const name = (id: number | 'bootstrap') => `${id}.${ZONE}`;
  const secret = async (object: string, key: string) => {
    const { data = {} } = (await cluster.get<KubeObject & { data?: Record<string, string> }>(`secret/${object}`, where)) ?? {}; // prettier-ignore
    return Buffer.from(data[key] ?? assert.fail(`${object} has no ${key}`), 'base64');
  };
  const file = async (called: string, bytes: Buffer) => {
    const path = join(clusters.logs, called);
    await writeFile(path, bytes, { mode: 0o600 });
    return path;
  };
  /** What `isthmus probe` says on a machine outside. */
  const probe = async (): Promise<ProbedCluster & { findings: Finding[] }> => {
    const { ca, cert, key } = files;
    const args = ['probe', bootstrap, '--ca', ca, '--cert', cert, '--key', key, '-o', 'json'];
    const { stdout, stderr } = await clusters.outside.run([process.execPath, MAIN, ...args], {
      timeoutMs: 120_000,
    });
    assert.ok(stdout.startsWith('{'), stderr);
    return JSON.parse(stdout) as ProbedCluster & { findings: Finding[] };
  };
  const untilReached = async () => {
    let last: Awaited<ReturnType<typeof probe>> | undefined;
    const isReached = async () => {
      last = await probe();
      return last.brokers.length === IDS.length && last.findings.length === 0;
    };
    await waitFor('every broker to be reached', isReached, PATIENCE).catch((error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(last?.findings)}`),
    );
    return last!;
  };
  const settled = () =>
    cluster.waitFor(
      'kafka/events',
      (kafka) => {
        const { observedGeneration } = (kafka.status ?? {}) as { observedGeneration?: number };
        return hasCondition('Ready')(kafka) && observedGeneration === kafka.metadata.generation;
      },
      { ...where, ...PATIENCE },
    );
  const nodeOf = async (pod: string) => (await cluster.get<Pod>(`pod/${pod}`, where))?.spec.nodeName;
  const patch = (body: object) =>
    cluster.kubectl(
      'patch',
      'kafka/events',
      '--namespace=kafka',
      '--type=json',
      `--patch=${JSON.stringify(body)}`,
    );

  it('are reached straight, each by its name, as the page says', async (t) => {
    const page = await readPage('expose.md');
    const resources = page.resources.replaceAll('kafka.example.com', ZONE);
    const began = performance.now();
    bootstrap = (await followPage(cluster, { ...page, resources })).at(-1) ?? '';
    t.diagnostic(`ready after ${((performance.now() - began) / 1000).toFixed(0)} s`);
    assert.match(bootstrap, /^bootstrap\.kafka\.example\.test:3\d{4}$/);
    await cluster.waitFor('kafkauser/shop', hasCondition('Ready'), { ...where, ...PATIENCE });
    files = {
      ca: await file('ca.crt', await secret('events-cluster-ca-cert', 'ca.crt')),
      cert: await file('user.crt', await secret('shop', 'user.crt')),
      key: await file('user.key', await secret('shop', 'user.key')),
    };
    const { brokers } = await untilReached();
    t.diagnostic(`reached after ${((performance.now() - began) / 1000).toFixed(0)} s`);
    for (const id of IDS) {
      const node = await nodeOf(`events-brokers-${id}`);
      const { status } = (await cluster.get(`node/${node}`))!;
      const { addresses } = status as { addresses: { type: string; address: string }[] };
      const outer = addresses.filter(({ type }) => type === 'ExternalIP').map(({ address }) => address);
      const probed = brokers.find(({ nodeId }) => nodeId === id);
      assert.deepEqual([probed?.host, probed?.addresses.map(({ address }) => address)], [name(id), outer]);
    }
  });

  it('take records of a client outside, which goes on while a broker moves to another node', async (t) => {
    const config = { 'ssl.certificate.location': files.cert, 'ssl.key.location': files.key };
    writer = await startWriterOutside(
      { outside: clusters.outside, bootstrap, caFile: files.ca, config },
      'orders',
    );
    stack.defer(() => writer.stop());
    await flowing([writer]);
    const left = (await nodeOf('events-brokers-2'))!;
    const before = await zone.ask('A', name(2));
    await cluster.kubectl('cordon', left);
    const began = performance.now();
    const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    await cluster.kubectl('delete', 'pod/events-brokers-2', '--namespace=kafka', '--wait=false');
    const hasMoved = async () => {
      const now = await zone.ask('A', name(2));
      return now.length > 0 && now.join() !== before.join();
    };
    await waitFor('the record to change', hasMoved, PATIENCE);
    t.diagnostic(`its name is right after ${seconds()}`);
    await untilReached();
    t.diagnostic(`and the probe gets there after ${seconds()}`);
    assert.notEqual(await nodeOf('events-brokers-2'), left);
    await flowing([writer]);
    await cluster.kubectl('uncordon', left);
    await settled();
  });

  it('say so while nobody publishes where they are', async (t) => {
    const scale = (replicas: number) =>
      cluster.kubectl(
        'scale',
        'deployment/external-dns',
        '--namespace=external-dns',
        `--replicas=${replicas}`,
      );
    const isSaid = (status: 'True' | 'False') => hasCondition('DNSPropagated', status);
    await cluster.waitFor('kafka/events', isSaid('True'), { ...where, ...PATIENCE });
    await scale(0);
    const pods = ['get', 'pods', '--namespace=external-dns', '--output=name'];
    const isStopped = async () => (await cluster.kubectl(...pods)) === '';
    await waitFor('external-dns to be stopped', isStopped, PATIENCE);
    const left = (await nodeOf('events-brokers-1'))!;
    await cluster.kubectl('cordon', left);
    const began = performance.now();
    const seconds = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
    await cluster.kubectl('delete', 'pod/events-brokers-1', '--namespace=kafka', '--wait=false');
    await cluster.waitFor('kafka/events', isSaid('False'), { ...where, ...PATIENCE });
    t.diagnostic(`said after ${seconds()}`);
    const path = '{.status.conditions[?(@.type=="DNSPropagated")].message}';
    const message = await cluster.kubectl(
      'get',
      'kafka/events',
      '--namespace=kafka',
      `--output=jsonpath=${path}`,
    );
    assert.match(
      message,
      /^1\.kafka\.example\.test:.* should lead to .*external-dns has not taken up the DNSEndpoint/,
    );
    await scale(1);
    for (const type of ['DNSPropagated', 'Reachable'])
      await cluster.waitFor('kafka/events', hasCondition(type), { ...where, ...PATIENCE });
    t.diagnostic(`and that all is well after ${seconds()}`);
    await cluster.kubectl('uncordon', left);
    await flowing([writer]);
  });

  it('are away and back with the same port when the listener is switched off and on', async (t) => {
    const listener = (await cluster.get<KubeObject & { spec: { kafka: { listeners: object[] } } }>('kafka/events', where))!.spec.kafka.listeners[1]!; // prettier-ignore
    await patch([{ op: 'remove', path: '/spec/kafka/listeners/1' }]);
    const isGone = async () => (await zone.ask('A', name('bootstrap'))).length === 0;
    await waitFor('the names to be gone', isGone, PATIENCE);
    const began = performance.now();
    await patch([{ op: 'add', path: '/spec/kafka/listeners/1', value: listener }]);
    await settled();
    await untilReached();
    t.diagnostic(`reached again after ${((performance.now() - began) / 1000).toFixed(0)} s`);
    const again = await cluster.kubectl('get', 'kafka/events', '--namespace=kafka', '--output=jsonpath={.status.listeners[1].bootstrapServers}'); // prettier-ignore
    assert.equal(again, bootstrap);
    await flowing([writer]);
  });

  it('have lost no record that was acknowledged', async (t) => {
    const { acked, failed, failures, problems } = await writer.finish();
    t.diagnostic(`${acked} acknowledged`);
    assert.deepEqual(problems, []);
    assert.deepEqual([failed, failures], [0, []]);
  });
});
