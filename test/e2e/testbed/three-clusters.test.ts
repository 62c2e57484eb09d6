import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { HOST_PORT, NODE_PORT, client, door, notes, web } from './pods.ts';

/** What busybox's wget prints for a page, or undefined if it gets none within three seconds. */
async function fetchFromPod(cluster: Cluster, url: string): Promise<string | undefined> {
  const { code, stdout } = await cluster.exec('client', ['timeout', '3', 'wget', '-q', '-O-', url]);
  return code === 0 ? stdout.trim() : undefined;
}

async function podIp(cluster: Cluster, selector: string): Promise<string> {
  return cluster.kubectl(
    'get',
    'pods',
    `--selector=${selector}`,
    '--output=jsonpath={.items[0].status.podIP}',
  );
}

/** The quickest of three pings from the client pod, in milliseconds. */
async function roundTrip(cluster: Cluster, address: string): Promise<number> {
  const { stdout } = await cluster.exec('client', ['ping', '-c', '3', '-W', '5', address]);
  return Number(/min\/avg\/max = ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
}

describe('three clusters with routed pods', () => {
  let clusters: Clusters;
  let one: Cluster;
  let two: Cluster;
  let three: Cluster;

  before(async () => {
    clusters = await startClusters(3, { routed: true });
    [one, two, three] = clusters.list as [Cluster, Cluster, Cluster];
    await Promise.all(clusters.list.map((cluster) => cluster.apply([...web(), client])));
    await Promise.all(
      clusters.list.flatMap((cluster) => [
        cluster.rolledOut('deployment/web'),
        cluster.waitFor('pod/client', hasCondition('Ready')),
      ]),
    );
  });
  after(() => clusters?.stopAll());

  const nodePort = (cluster: Cluster, address: 'internal' | 'public') =>
    `http://${cluster.nodes[0]?.addresses[address]}:${NODE_PORT}/`;
  const reaches = (from: Cluster, url: string) =>
    waitFor(`${url} from ${from.name}`, () => fetchFromPod(from, url), { timeoutMs: 30_000 });
  const fetchFromOutside = async (url: string) => {
    const { code, stdout } = await clusters.outside.run(['curl', '-sf', '-m', '3', url]);
    return code === 0 ? stdout.trim() : undefined;
  };

  it('resolves names and serves them in every cluster', async () => {
    for (const cluster of clusters.list) {
      assert.match((await reaches(cluster, 'http://web.default.svc.cluster.local/')) ?? '', /^web-/);
      const unknown = await cluster.exec('client', ['nslookup', 'nobody.example.test.']);
      assert.match(unknown.stdout + unknown.stderr, /NXDOMAIN/);
    }
  });

  it('says where each node is, as a cloud does', async () => {
    const { status } = await one.waitFor('node/c1-node-1', () => true);
    const addresses = (status?.['addresses'] ?? []) as { type: string; address: string }[];
    const byType = Object.fromEntries(addresses.map(({ type, address }) => [type, address]));
    assert.deepEqual(byType, {
      InternalIP: '172.30.1.11',
      ExternalIP: '203.0.113.11',
      Hostname: 'c1-node-1',
    });
  });

  it('is reached from outside by node port and host port, and the pod sees who asks', async () => {
    await one.apply(door);
    await one.waitFor('pod/door', hasCondition('Ready'));
    await clusters.outside.setName('one.example.test', ['203.0.113.11']);
    const byName = `http://one.example.test:${HOST_PORT}/`;
    assert.equal(await waitFor(byName, () => fetchFromOutside(byName), { timeoutMs: 30_000 }), 'door');
    const byNodePort = nodePort(one, 'public');
    assert.match(
      await waitFor(byNodePort, () => fetchFromOutside(byNodePort), { timeoutMs: 30_000 }),
      /^web-/,
    );
    assert.match(await one.kubectl('logs', 'door'), new RegExp(clusters.outside.address));
    assert.equal(await fetchFromOutside(nodePort(one, 'internal')), undefined);
  });

  it('reaches pods of another cluster by address, without translation', async () => {
    await two.apply(door);
    await two.waitFor('pod/door', hasCondition('Ready'));
    const address = (await two.get('pod/door'))?.status?.['podIP'] as string;
    assert.equal(await reaches(one, `http://${address}:8080/`), 'door');
    const asker = (await one.get('pod/client'))?.status?.['podIP'] as string;
    assert.ok((await two.kubectl('logs', 'door')).includes(asker), `${asker} is not in the log`);
  });

  it('cuts two clusters off from one another, and heals', async () => {
    await reaches(one, nodePort(two, 'internal'));
    await clusters.cut(one, two);
    assert.equal(await fetchFromPod(one, nodePort(two, 'internal')), undefined);
    assert.equal(await fetchFromPod(one, nodePort(two, 'public')), undefined);
    assert.equal(await fetchFromPod(one, `http://${await podIp(two, 'app=web')}:8080/`), undefined);
    await reaches(one, nodePort(three, 'internal'));
    await reaches(three, nodePort(two, 'public'));
    await clusters.heal(one, two);
    await reaches(one, nodePort(two, 'internal'));
  });

  it('cuts the outside off', async () => {
    await clusters.cut(three, clusters.outside);
    assert.equal(await fetchFromOutside(nodePort(three, 'public')), undefined);
    await reaches(one, nodePort(three, 'internal'));
    await clusters.heal();
    await waitFor('healing', () => fetchFromOutside(nodePort(three, 'public')), { timeoutMs: 30_000 });
  });

  it('delays packets between two clusters and no others', async () => {
    const [toTwo, toThree] = [await podIp(two, 'app=web'), await podIp(three, 'app=web')];
    await clusters.delay(one, two, 150);
    const slow = await roundTrip(one, toTwo);
    assert.ok(slow >= 300, `${slow} ms`);
    assert.ok((await roundTrip(one, toThree)) < slow);
    await clusters.delay(one, clusters.outside, 100);
    const { stdout } = await clusters.outside.run([
      'curl',
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{time_total}',
      nodePort(one, 'public'),
    ]);
    assert.ok(Number(stdout) >= 0.4, `${stdout} s`); // two round trips
    await clusters.heal();
    assert.ok((await roundTrip(one, toTwo)) < slow);
  });

  it('provides volumes, keeps them over a power cut of the cluster, and takes them back', async () => {
    await two.apply(notes);
    await two.rolledOut('statefulset/notes');
    await clusters.stop(two);
    const { code } = await two.tryKubectl(['get', 'nodes', '--request-timeout=3s']);
    assert.notEqual(code, 0);
    await clusters.start(two);
    const read = async () => (await two.exec('notes-0', ['cat', '/data/notes'])).stdout;
    await waitFor('second start', async () => (await read()) === 'started\nstarted\n', {
      timeoutMs: 120_000,
    });
    await reaches(two, 'http://web.default.svc.cluster.local/');
    const folder = join(two.nodes[0]?.libraryFolder ?? '', 'volumes');
    assert.equal(readdirSync(folder).length, 1);
    await two.remove(notes);
    await waitFor(
      'removal of the volume',
      async () => (await two.kubectl('get', 'pv', '--output=name')) === '',
    );
    await waitFor('removal of its folder', () => Promise.resolve(readdirSync(folder).length === 0));
  });

  it('keeps the logs of components and pods', () => {
    for (const file of ['c1/kube-apiserver.log', 'c1/node-1/kubelet.log', 'c1/node-1/pods'])
      assert.ok(existsSync(join(clusters.logs, file)), file);
  });
});
