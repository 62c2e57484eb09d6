import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { IMAGES } from '../../support/images/images.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { may } from '../rights.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const NAMESPACE = 'isthmus-system';
const NAME = 'isthmus-operator';
const where = { namespace: NAMESPACE };

/** What `isthmus install` prints. */
async function manifests(): Promise<string> {
  const { code, stdout, stderr } = await run(process.execPath, [MAIN, 'install', '--image', IMAGES.isthmus]);
  assert.equal(code, 0, stderr);
  return stdout;
}

interface Printed {
  kind: string;
  metadata: { name: string };
  roleRef?: { name: string };
  subjects?: { name: string }[];
  rules?: { resources?: string[]; verbs: string[] }[];
}

/** What the printed manifests let the operator do to a resource in every namespace. */
async function clusterRights(resource: string): Promise<Set<string>> {
  const objects = parseAllDocuments(await manifests()).map((document) => document.toJS() as Printed);
  const bindings = objects.filter(
    ({ kind, subjects }) => kind === 'ClusterRoleBinding' && subjects?.some(({ name }) => name === NAME),
  );
  const roles = new Set(bindings.map(({ roleRef }) => roleRef?.name));
  const rules = objects
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && roles.has(metadata.name))
    .flatMap((role) => role.rules ?? []);
  assert.ok(rules.length > 0, 'no ClusterRole is bound to the operator');
  return new Set(
    rules.filter(({ resources }) => resources?.includes(resource)).flatMap(({ verbs }) => verbs),
  );
}

/**
 * The names of all objects in the cluster, but for those that come and go by themselves: events, the pods of the
 * cluster's DNS, which leave a dead node, and the accounts that the controller manager makes when it needs them.
 */
async function everything(cluster: Cluster): Promise<string[]> {
  const kinds = (await cluster.kubectl('api-resources', '--verbs=list', '--output=name')).trim().split('\n');
  const lasting = kinds.filter((kind) => !/^(events|componentstatuses)(\.|$)/.test(kind));
  const columns = '--output=custom-columns=K:.kind,S:.metadata.namespace,N:.metadata.name';
  return (await cluster.kubectl('get', lasting.join(','), '--all-namespaces', '--no-headers', columns))
    .trim()
    .split('\n')
    .filter((line) => !/^(Pod|ServiceAccount)\s+kube-system\s/.test(line))
    .toSorted();
}

describe('the operator, installed as people install it', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let bare: string[] = [];
  before(async () => {
    clusters = await startClusters(1, { nodes: 2, images: ['isthmus'] });
    [cluster] = clusters.list as [Cluster];
    // What a new cluster makes for itself comes one by one.
    const isSettled = async () => {
      const former = bare;
      bare = await everything(cluster);
      return isDeepStrictEqual(former, bare);
    };
    await waitFor('nothing new in the cluster', isSettled, { everyMs: 2000 });
  });
  after(() => clusters?.stopAll());

  /** The pod that leads: a holder is named after its pod, with something of its own behind an underscore. */
  const leader = async () => {
    const lease = await cluster.get(`lease/${NAME}`, where);
    return (lease?.spec['holderIdentity'] as string | undefined)?.split('_')[0];
  };
  const otherLeader = (former: string | undefined) =>
    waitFor(
      'another leader',
      async () => {
        const holder = await leader();
        return holder !== undefined && holder !== '' && holder !== former && holder;
      },
      { timeoutMs: 300_000, everyMs: 250 },
    );
  const pods = async () => {
    const list = await cluster.kubectl('get', 'pods', `--namespace=${NAMESPACE}`, '--output=json');
    return (JSON.parse(list) as { items: (KubeObject & { spec: { nodeName: string } })[] }).items;
  };

  it('comes up on a bare cluster, one pod a node', async () => {
    await cluster.apply(await manifests(), { clientSide: true });
    await cluster.rolledOut(`deployment/${NAME}`, where);
    assert.equal(new Set((await pods()).map((pod) => pod.spec.nodeName)).size, 2);
    await otherLeader(undefined);
  });

  it('may do no more than its own rights say', async () => {
    const its = (...what: string[]) => may(cluster, `${NAMESPACE}:${NAME}`, ...what);
    assert.equal(await its('*', '*', '--all-namespaces'), 'no');
    assert.equal(await its('create', 'clusterrolebindings'), 'no');
    assert.equal(await its('patch', `leases/${NAME}`, `--namespace=${NAMESPACE}`), 'yes');
    assert.equal(await its('patch', 'leases/another', `--namespace=${NAMESPACE}`), 'no');
    assert.equal(await its('patch', `leases/${NAME}`, '--namespace=kube-system'), 'no');
    const granted = await clusterRights('secrets');
    assert.ok(!granted.has('deletecollection') && !granted.has('*'), 'of Secrets');
    for (const verb of ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'])
      assert.equal(await its(verb, 'secrets', '--all-namespaces'), granted.has(verb) ? 'yes' : 'no', verb);
  });

  it('gives people their part of Kubernetes’ own roles', async () => {
    const account = 'default:default';
    const binding = ['rolebinding', 'personas', '--namespace=default'];
    await cluster.kubectl('create', ...binding, '--clusterrole=edit', `--serviceaccount=${account}`);
    const its = (...what: string[]) => may(cluster, account, ...what, '--namespace=default');
    await waitFor(
      'edit to have taken in ours',
      async () => (await its('create', 'virtualkafkaclusters')) === 'yes',
    );
    assert.equal(await its('get', 'kafkaproxies'), 'yes');
    assert.equal(await its('create', 'kafkaproxies'), 'no');
    await cluster.kubectl('delete', ...binding);
  });

  it('elects another leader when its pod dies', async () => {
    const former = await otherLeader(undefined);
    const now = ['--grace-period=0', '--force', '--ignore-not-found'];
    await cluster.kubectl('delete', 'pod', former, `--namespace=${NAMESPACE}`, ...now);
    await otherLeader(former);
    await cluster.rolledOut(`deployment/${NAME}`, where);
  });

  it('survives the restart of the node that its leader is on', async () => {
    const former = await otherLeader(undefined);
    const place = (await pods()).find((pod) => pod.metadata.name === former)?.spec.nodeName;
    const node = cluster.nodes.find((each) => each.name === place);
    assert.ok(node, `nobody runs ${former}`);
    await clusters.killNode(node);
    const next = await otherLeader(former);
    await clusters.startNode(node);
    await cluster.rolledOut(`deployment/${NAME}`, where);
    assert.equal(await leader(), next, 'the leader changed although nothing happened to it');
  });

  it('leaves nothing behind when the same manifests are deleted', async () => {
    await cluster.remove(await manifests());
    let left: string[] = [];
    const isBare = async () => {
      // A kind that has just gone may still be listed, and then there is nothing behind it.
      left = await everything(cluster).catch((error: unknown) => [messageOf(error)]);
      return isDeepStrictEqual(left, bare);
    };
    await waitFor('a bare cluster', isBare, { everyMs: 1000 }).catch(() => assert.deepEqual(left, bare));
  });
});
