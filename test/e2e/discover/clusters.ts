/** Services that are exported in one of three clusters, and found and reached in the others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { IMAGES } from '../../support/images/images.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { DNS, NAMESPACE, SERVED, TTL_SECONDS } from './site.ts';
import { install, isAnswered, lookup, page, processesOf, until, untilAll } from './site.ts';

const SHARED = 'foo.default.svc.clusterset.local';
/** What is promised after a change, and what a busy machine may add to it. */
const LIMIT_MS = 2000 + TTL_SECONDS * 1000;
const SLACK_MS = 15_000;

const labels = { app: 'foo' };
const server = {
  name: 'main',
  image: IMAGES.busybox,
  command: ['sh', '-c', 'mkdir /www; echo alpha > /www/index.html; exec httpd -f -p 8080 -h /www'],
  readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'foo', namespace: 'default' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [server], terminationGracePeriodSeconds: 0 } },
  },
};
const serviceCalled = (fqdn: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'foo',
    namespace: 'default',
    annotations: { 'connectivity.tanzu.vmware.com/fqdn': fqdn },
  },
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
});
const serviceExport = {
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name: 'foo', namespace: 'default' },
};

/** Asks our server itself, from a new port each time, and asks again as resolvers do: `answered`, `again`, `lost`. */
const LOAD = `
ok=0; again=0; lost=0
while [ ! -e /tmp/enough ]; do
  try=0; done=
  while [ $try -lt 12 ] && [ -z "$done" ]; do
    try=$((try + 1))
    nslookup -type=a -timeout=1 -retry=1 $1. $2 >/tmp/said 2>&1 && grep -q '^Name:' /tmp/said && done=yes
  done
  if [ -z "$done" ]; then lost=$((lost + 1)); elif [ $try -gt 1 ]; then again=$((again + 1)); else ok=$((ok + 1)); fi
  echo $ok $again $lost > /tmp/count
  usleep 20000
done
cat /tmp/count`;

type Restarted = KubeObject & { status?: { containerStatuses?: { restartCount: number }[] } };
/** Whether the pod's program was started again after it had died, and serves. */
const isBackAgain = (pod: Restarted) =>
  (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0 && hasCondition('Ready')(pod);

/** The tests, on clusters called alpha, beta and gamma that nobody has installed anything of ours in, with the image of it. */
export function testSharedServices(site: () => Clusters): void {
  describe('services shared by three clusters', () => {
    let clusters: Clusters;
    let alpha: Cluster;
    let beta: Cluster;
    let gamma: Cluster;

    before(async () => {
      clusters = site();
      [alpha, beta, gamma] = clusters.list as [Cluster, Cluster, Cluster];
      await clusters.router(unrouted(alpha, beta));
      await Promise.all([
        alpha.apply([deployment, serviceCalled('foo.example.test')]),
        install(
          [
            { cluster: alpha, replicas: 1, reach: 'nodes', exceptions: { gamma: 'pods' } },
            { cluster: beta, replicas: 2, reach: 'nodes', exceptions: { gamma: 'pods' } },
            { cluster: gamma, replicas: 1, reach: 'pods' },
          ],
          clusters.logs,
        ),
      ]);
      await alpha.rolledOut('deployment/foo');
      const patience = { timeoutMs: 300_000, everyMs: 500 };
      const answered = (each: Cluster) =>
        waitFor(`answers in ${each.name}`, () => isAnswered(each), patience);
      await Promise.all(clusters.list.map(answered));
    });
    after(() => clusters?.heal());

    /** Pods of the one and of the other do not reach each other; their nodes do. */
    function unrouted(one: Cluster, other: Cluster): string {
      const drop = (from: Cluster, to: Cluster) =>
        `ip saddr { ${from.addresses.network}, ${from.addresses.podNetwork} } ip daddr ${to.addresses.podNetwork} drop`;
      const chain = 'type filter hook forward priority filter - 5';
      return `table ip unrouted {\n chain pods {\n ${chain}\n ${drop(one, other)}\n ${drop(other, one)}\n }\n}\n`;
    }

    /** Makes a change and reports how long it took until pods were told, who had begun to ask before it. */
    async function soon(what: string, change: () => Promise<void>, asked: Promise<number>[]): Promise<void> {
      const told = Promise.all(asked);
      told.catch(() => {}); // should the change fail before
      await change();
      const changed = performance.now();
      const times = (await told).map((at) => Math.max(at - changed, 0));
      console.log(`    ${what}: ${times.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ')}`);
      const longest = Math.max(...times);
      assert.ok(longest < LIMIT_MS + SLACK_MS, `${what} took ${longest} ms`);
    }

    const reached = (cluster: Cluster, host: string) =>
      waitFor(`${host} from ${cluster.name}`, async () => (await page(cluster, host)) === 'alpha', {
        timeoutMs: 300_000,
        everyMs: 250,
      });
    const waysIn = (cluster: Cluster) =>
      cluster.kubectl(
        'get',
        'endpointslices',
        '--selector=multicluster.kubernetes.io/service-name=foo',
        '--output=jsonpath={.items[*].endpoints[*].addresses[*]}',
      );

    it('are reached by both names: by nodes where pods do not route, by pods where they do', async () => {
      const names = [SHARED, 'foo.example.test'];
      const asked = [beta, gamma].flatMap((each) => names.map((name) => until(each, name, SERVED)));
      await soon('exported', () => alpha.apply(serviceExport), asked);
      for (const cluster of [alpha, beta, gamma]) for (const name of names) await reached(cluster, name);
      assert.equal(await waysIn(beta), alpha.nodes[0]?.addresses.internal);
      assert.match(await waysIn(gamma), /^10\.241\./);
    });

    it('change their names everywhere at once', async () => {
      const asked = clusters.list.flatMap((each) => [
        until(each, 'moved.example.test', SERVED),
        until(each, 'foo.example.test', 'NXDOMAIN'),
      ]);
      await soon('renamed', () => alpha.apply(serviceCalled('moved.example.test')), asked);
      await reached(beta, 'moved.example.test');
    });

    it('keep their names while the exporter is cut off, and follow it again afterwards', async () => {
      await untilAll(beta, 'moved.example.test', SERVED);
      await clusters.cut(alpha, beta);
      const asked = [until(gamma, 'healed.example.test', SERVED)];
      const rename = () => alpha.apply(serviceCalled('healed.example.test'));
      await soon('renamed, one cluster being cut off', rename, asked);
      for (const name of ['moved.example.test', SHARED]) assert.match(await lookup(beta, name), /^10\.96\./);
      assert.equal(await lookup(beta, 'healed.example.test'), 'NXDOMAIN');
      await clusters.heal();
      const healed = performance.now();
      const seconds = ((await until(beta, 'healed.example.test', SERVED)) - healed) / 1000;
      console.log(`    after the cut: ${seconds.toFixed(1)} s`);
      await reached(beta, 'healed.example.test');
    });

    it('are answered for when a DNS server is killed under load', async () => {
      const service = await beta.get<{ spec: { clusterIP: string } }>(`service/${DNS}`, {
        namespace: NAMESPACE,
      });
      const command = ['sh', '-c', LOAD, 'sh', SHARED, service?.spec.clusterIP ?? ''];
      const loaded = beta.exec('client', command, { timeoutMs: 600_000 });
      const counts = (text: string) => text.trim().split(' ').map(Number) as [number, number, number];
      const isLoaded = (questions: number) => async () => {
        const [answered, again] = counts((await beta.exec('client', ['cat', '/tmp/count'])).stdout);
        return answered + again >= questions;
      };
      await waitFor('load', isLoaded(25), { everyMs: 250 });
      // The hard way: the process is gone, and nobody has been told before.
      const path = '--output=jsonpath={.items[0].metadata.name} {.items[0].metadata.uid}';
      const pods = await beta.kubectl('get', 'pods', `--namespace=${NAMESPACE}`, path);
      const [pod = '', uid = ''] = pods.split(' ');
      const victims = processesOf(uid);
      assert.equal(victims.length, 1);
      for (const pid of victims) process.kill(pid, 'SIGKILL');
      await until(beta, SHARED, SERVED); // not at once: a question on its way to the dead one has to be asked again
      await beta.waitFor(`pod/${pod}`, isBackAgain, { namespace: NAMESPACE });
      await waitFor('more load', isLoaded(200), { timeoutMs: 300_000, everyMs: 250 });
      await beta.exec('client', ['touch', '/tmp/enough']);
      const [answered, again, lost] = counts((await loaded).stdout);
      console.log(`    answered ${answered}, asked again ${again}, lost ${lost}`);
      assert.ok(again < answered / 5, `${again} of ${answered} had to be asked again`);
      assert.equal(lost, 0);
    });

    it('are gone everywhere when they are no longer exported', async () => {
      await beta.rolledOut(`deployment/${DNS}`, { namespace: NAMESPACE });
      const others = [beta, gamma].map((each) => until(each, 'healed.example.test', 'NXDOMAIN'));
      const shared = clusters.list.map((each) => until(each, SHARED, 'NXDOMAIN'));
      await soon('withdrawn', () => alpha.remove(serviceExport), [...others, ...shared]);
      const left = '--selector=app.kubernetes.io/managed-by=isthmus';
      const kinds = 'services,endpointslices,serviceimports';
      for (const cluster of clusters.list) {
        const isBare = async () => (await cluster.kubectl('get', kinds, left, '--output=name')) === '';
        await waitFor('nothing to be left', isBare, { everyMs: 500 });
      }
      assert.match(await lookup(alpha, 'healed.example.test'), /^10\.96\./);
    });
  });
}
