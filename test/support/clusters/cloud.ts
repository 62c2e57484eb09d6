/**
 * Stands in for a cloud: no registry has one. It writes to a node what a cloud's controller writes: the public address
 * that leads to it, and its region and zone (a cluster is a region, each node a zone). Then it takes away the taint that
 * keeps pods off nodes which the cloud has not seen yet.
 */
import type { Cluster } from './cluster.ts';
import type { Node } from './node.ts';

const UNSEEN = 'node.cloudprovider.kubernetes.io/uninitialized';

async function welcome(cluster: Cluster, { name, addresses }: Node): Promise<void> {
  await cluster.waitFor(`node/${name}`, () => true);
  const status = {
    addresses: [
      { type: 'InternalIP', address: addresses.internal },
      { type: 'ExternalIP', address: addresses.public },
      { type: 'Hostname', address: name },
    ],
  };
  const patch = ['--type=merge', `--patch=${JSON.stringify({ status })}`];
  await cluster.kubectl('patch', 'node', name, '--subresource=status', ...patch);
  const [region, zone] = [
    cluster.name,
    `${cluster.name}-${cluster.nodes.findIndex((node) => node.name === name) + 1}`,
  ];
  const labels = [`topology.kubernetes.io/region=${region}`, `topology.kubernetes.io/zone=${zone}`];
  await cluster.kubectl('label', 'node', name, ...labels);
  await cluster.kubectl('taint', 'node', name, `${UNSEEN}-`);
}

/** Tells the cluster its nodes' public addresses. */
export async function welcomeNodes(cluster: Cluster): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => welcome(cluster, node)));
}
