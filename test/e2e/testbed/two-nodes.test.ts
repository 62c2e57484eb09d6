import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import type { Node } from '../../support/clusters/node.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { NODE_PORT, client, web } from './pods.ts';

interface PodList {
  items: (KubeObject & {
    metadata: { deletionTimestamp?: string };
    spec: { nodeName: string };
    status: { podIP: string };
  })[];
}

describe('a cluster with two nodes beside another whose pods are not routed', () => {
  let clusters: Clusters;
  let east: Cluster;
  let west: Cluster;
  before(async () => {
    clusters = await startClusters(2, { names: ['east', 'west'], nodes: 2 });
    [east, west] = clusters.list as [Cluster, Cluster];
    await Promise.all(clusters.list.map((cluster) => cluster.apply([...web(2), client])));
    await Promise.all(clusters.list.map((cluster) => cluster.rolledOut('deployment/web')));
    await east.waitFor('pod/client', hasCondition('Ready'));
  });
  after(() => clusters?.stopAll());

  const webPods = async (cluster: Cluster) => {
    const list = await cluster.kubectl('get', 'pods', '--selector=app=web', '--output=json');
    return (JSON.parse(list) as PodList).items.filter(({ metadata }) => !metadata.deletionTimestamp);
  };
  const fetchFromEast = async (url: string) => {
    const { code, stdout } = await east.exec('client', ['timeout', '3', 'wget', '-q', '-O-', url]);
    return code === 0 ? stdout.trim() : undefined;
  };

  const reaches = (url: string) => waitFor(url, () => fetchFromEast(url), { everyMs: 250 });

  it('reaches pods on both nodes of its own cluster', async () => {
    const pods = await webPods(east);
    assert.deepEqual(pods.map((pod) => pod.spec.nodeName).toSorted(), ['east-node-1', 'east-node-2']);
    for (const pod of pods)
      assert.equal(await reaches(`http://${pod.status.podIP}:8080/`), pod.metadata.name);
  });

  it('does not reach pods of the other cluster by address, only by its nodes', async () => {
    const [pod] = await webPods(west);
    assert.equal(await fetchFromEast(`http://${pod?.status.podIP}:8080/`), undefined);
    for (const node of west.nodes) await reaches(`http://${node.addresses.internal}:${NODE_PORT}/`);
  });

  it('notices a dead node, goes on without it, and takes it back', async () => {
    const node = east.nodes[1] as Node;
    await clusters.killNode(node);
    await east.waitFor(`node/${node.name}`, hasCondition('Ready', 'Unknown'));
    const survivor = `http://${east.nodes[0]?.addresses.public}:${NODE_PORT}/`;
    const answers = async () => (await clusters.outside.run(['curl', '-sf', '-m', '3', survivor])).code === 0;
    await waitFor('the other node', answers, { everyMs: 250 });
    await clusters.startNode(node);
    await east.rolledOut('deployment/web');
    const [first, second] = await webPods(east);
    assert.notEqual(first?.spec.nodeName, second?.spec.nodeName);
  });
});
