/** Three clusters with one Kafka over them, made by the commands of docs/stretch.md on a machine outside of all three. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { API_PORT } from '../../support/clusters/addresses.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';
import { workspace } from '../../support/workspace.ts';
import { followPage, readPage } from '../brokers/page.ts';
import type { Desk } from '../brokers/page.ts';

export const where = { namespace: 'kafka' };
/** What contexts, node pools and DNS names call the clusters. */
export const NAMES = ['hub', 'east', 'west'] as const;

/** An administrator's machine: it reaches the API servers by their public addresses, and so do pods of other clusters. */
export async function deskOf({ list, outside }: Clusters): Promise<Desk> {
  const texts = list.map(({ controlPlane }) => {
    const url = `https://${controlPlane.addresses.controlPlane.public}:${API_PORT}`;
    return controlPlane.kubeconfigFor('admin', ['system:masters'], url);
  });
  const written = await Promise.all(texts);
  const kubeconfig = join(workspace('stretch'), 'kubeconfig');
  await writeFile(
    kubeconfig,
    inOneKubeconfig(Object.fromEntries(NAMES.map((name, i) => [name, written[i] ?? '']))),
  );
  return { kubeconfig, run: (command, args, options) => outside.run([command, ...args], options) };
}

export async function makeByPage(desk: Desk): Promise<number> {
  const page = await readPage('stretch.md');
  assert.ok(page.commands.length <= 6, 'six commands');
  await followPage(desk, page);
  return page.commands.length;
}

/** What people do who want clients in another cluster. */
export async function copySecrets(from: Cluster, to: Cluster, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const secret = await from.waitFor<KubeObject & { data?: object; type?: string }>(
      `secret/${name}`,
      ({ data }) => data !== undefined,
      where,
    );
    await to.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name, ...where }, data: secret.data, type: secret.type }); // prettier-ignore
  }
}

export const CLIENT_SECRETS = ['shop', 'events-cluster-ca-cert'];

/** A producer's settings, with what is in those. */
export const CLIENT_CONFIG = [
  'security.protocol=SSL',
  'ssl.truststore.type=PEM',
  'ssl.truststore.location=/mounted/events-cluster-ca-cert/ca.crt',
  'ssl.keystore.type=PKCS12',
  'ssl.keystore.location=/mounted/shop/user.p12',
  'ssl.keystore.password=$(cat /mounted/shop/user.password)',
];

const KINDS =
  'pods,secrets,configmaps,services,serviceaccounts,strimzipodsets,kafkaanchors,serviceexports,networkpolicies,poddisruptionbudgets';

/** What a cluster has of the Kafka, but for its data. */
export async function leftOf(cluster: Cluster): Promise<string[]> {
  const narrowed = [`--namespace=${where.namespace}`, '--selector=strimzi.io/cluster=events'];
  const list = await cluster.kubectl('get', KINDS, ...narrowed, '--output=name');
  return list.trim().split('\n').filter(Boolean);
}

/** Partitions that lack a replica, as brokers say; something if nobody answers. */
export async function laggards(cluster: Cluster, bootstrap: string): Promise<string> {
  const tool = ['/opt/kafka/bin/kafka-topics.sh', '--bootstrap-server', bootstrap];
  const question = [
    '--command-config',
    '/shared/client.properties',
    '--describe',
    '--under-replicated-partitions',
  ];
  const { code, stdout } = await cluster.exec('writer', [...tool, ...question], {
    ...where,
    container: 'reader',
  });
  return code === 0 ? stdout.trim() : 'no answer';
}
