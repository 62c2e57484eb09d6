/** Three clusters side by side: what reaches what, and what faults do to it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';
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

/** The quickest of three pings from the client pod, in milliseconds; of three more if none of them came back. */
function roundTrip(cluster: Cluster, address: string): Promise<number> {
  return waitFor(`a ping to ${address}`, async () => {
    const { stdout } = await cluster.exec('client', ['ping', '-c', '3', '-W', '5', address]);
    const quickest = /min\/avg\/max = ([\d.]+)/.exec(stdout)?.[1];
    return quickest === undefined ? undefined : Number(quickest);
  });
}

/** Waits until the pod has written that to its log: it may serve before it writes, and kubelet passes it on later. */
async function logs(cluster: Cluster, pod: string, text: string): Promise<void> {
  const isThere = async () => (await cluster.kubectl('logs', pod)).includes(text);
  await waitFor(`${text} in the log of ${pod}`, isThere, { everyMs: 250 });
}

/** The tests, on clusters that are there when they begin; whatever they did to the network is undone at their end. */
export function testThreeClusters(site: () => Clusters): void {
  describe('three clusters with routed pods', () => {
    let clusters: Clusters;
    let one: Cluster;
    let two: Cluster;
    let three: Cluster;

    before(async () => {
      clusters = site();
      [one, two, three] = clusters.list as [Cluster, Cluster, Cluster];
      await Promise.all(clusters.list.map((cluster) => cluster.apply([...web(), client])));
      await Promise.all(
        clusters.list.flatMap((cluster) => [
          cluster.rolledOut('deployment/web'),
          cluster.waitFor('pod/client', hasCondition('Ready')),
        ]),
      );
    });
    after(async () => {
      await clusters?.heal();
      for (const cluster of clusters?.list ?? [])
        if (!cluster.nodes.every(({ isUp }) => isUp)) await clusters.start(cluster);
    });

    const nodePort = (cluster: Cluster, address: 'internal' | 'public') =>
      `http://${cluster.nodes[0]?.addresses[address]}:${NODE_PORT}/`;
    const reaches = (from: Cluster, url: string) =>
      waitFor(`${url} from ${from.name}`, () => fetchFromPod(from, url), { everyMs: 250 });
    const reachesFromOutside = (url: string) =>
      waitFor(`${url} from outside`, () => fetchFromOutside(url), { everyMs: 250 });
    const fetchFromOutside = async (url: string) => {
      const { code, stdout } = await clusters.outside.run(['curl', '-sf', '-m', '3', url]);
      return code === 0 ? stdout.trim() : undefined;
    };

    it('resolves names and serves them in every cluster', async () => {
      for (const cluster of clusters.list) {
        assert.match((await reaches(cluster, 'http://web.default.svc.cluster.local/')) ?? '', /^web-/);
        const isUnknown = async () => {
          const { stdout, stderr } = await cluster.exec('client', ['nslookup', 'nobody.example.test.']);
          return (stdout + stderr).includes('NXDOMAIN');
        };
        await waitFor('the answer that nobody is there', isUnknown, { everyMs: 250 });
      }
    });

    it('says where each node is, as a cloud does', async () => {
      const { status } = await one.waitFor(`node/${one.name}-node-1`, () => true);
      const addresses = (status?.['addresses'] ?? []) as { type: string; address: string }[];
      const byType = Object.fromEntries(addresses.map(({ type, address }) => [type, address]));
      assert.deepEqual(byType, {
        InternalIP: '172.30.1.11',
        ExternalIP: '203.0.113.11',
        Hostname: `${one.name}-node-1`,
      });
    });

    it('is reached from outside by node port and host port, and the pod sees who asks', async () => {
      await one.apply(door);
      await one.waitFor('pod/door', hasCondition('Ready'));
      await clusters.outside.setName('one.example.test', ['203.0.113.11']);
      const byName = `http://one.example.test:${HOST_PORT}/`;
      assert.equal(await reachesFromOutside(byName), 'door');
      assert.match(await reachesFromOutside(nodePort(one, 'public')), /^web-/);
      await logs(one, 'door', clusters.outside.address);
      assert.equal(await fetchFromOutside(nodePort(one, 'internal')), undefined);
    });

    it('reaches pods of another cluster by address, without translation', async () => {
      await two.apply(door);
      const { status } = await two.waitFor('pod/door', hasCondition('Ready'));
      const address = status?.['podIP'] as string;
      assert.equal(await reaches(one, `http://${address}:8080/`), 'door');
      const asker = (await one.get('pod/client'))?.status?.['podIP'] as string;
      await logs(two, 'door', asker);
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
      await reachesFromOutside(nodePort(three, 'public'));
    });

    it('delays packets between two clusters and no others', async () => {
      const [toTwo, toThree] = [await podIp(two, 'app=web'), await podIp(three, 'app=web')];
      await clusters.delay(one, two, 150);
      const slow = await roundTrip(one, toTwo);
      assert.ok(slow >= 300, `${slow} ms`);
      // Any of many pings will do: on a busy machine some are slow by themselves.
      const isQuick = (to: string) => async () => (await roundTrip(one, to)) < slow;
      await waitFor('a quick way to the third', isQuick(toThree));
      await clusters.delay(one, clusters.outside, 100);
      const time = [
        'curl',
        '-sf',
        '-m',
        '30',
        '-o',
        '/dev/null',
        '-w',
        '%{time_total}',
        nodePort(one, 'public'),
      ];
      const seconds = await waitFor('a page, late', async () => {
        const { code, stdout } = await clusters.outside.run(time);
        return code === 0 ? Number(stdout) : undefined;
      });
      assert.ok(seconds >= 0.4, `${seconds} s`); // two round trips
      await clusters.heal();
      await waitFor('a quick way to the second', isQuick(toTwo));
    });

    it('provides volumes, keeps them over a power cut of the cluster, and takes them back', async () => {
      await two.apply(notes);
      await two.rolledOut('statefulset/notes');
      const starts = async () =>
        (await two.exec('notes-0', ['cat', '/data/notes'])).stdout.split('\n').length - 1;
      await waitFor('first start', async () => (await starts()) === 1, { everyMs: 250 });
      await clusters.stop(two);
      const { code } = await two.tryKubectl(['get', 'nodes', '--request-timeout=3s']);
      assert.notEqual(code, 0);
      await clusters.start(two);
      await waitFor('second start', async () => (await starts()) > 1, { timeoutMs: 300_000, everyMs: 250 });
      await reaches(two, 'http://web.default.svc.cluster.local/');
      const folder = join(two.nodes[0]?.libraryFolder ?? '', 'volumes');
      assert.equal(readdirSync(folder).length, 1);
      await two.remove(notes);
      await waitFor(
        'removal of the volume',
        async () => (await two.kubectl('get', 'pv', '--output=name')) === '',
        { everyMs: 500 },
      );
      await waitFor('removal of its folder', () => Promise.resolve(readdirSync(folder).length === 0));
    });

    it('keeps the logs of components and pods', () => {
      for (const file of ['kube-apiserver.log', 'node-1/kubelet.log', 'node-1/pods'])
        assert.ok(existsSync(join(clusters.logs, one.name, file)), file);
    });
  });
}
