/** Other Kubernetes clusters for Kafkas that are stretched over them: real API servers, joined by an account with just the rights of one. */
import { readFile } from 'node:fs/promises';
import { STRETCH_RIGHTS } from '../../../src/control/install/rbac.ts';
import { rulesOf } from '../../../src/control/kernel/rights.ts';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { startOwnControlPlane } from '../../support/control-plane.ts';
import type { OwnControlPlane } from '../../support/control-plane.ts';
import { applyCrds } from '../../support/control-plane/crds.ts';
import { startPodRunner } from '../../support/pods/runner.ts';
import type { ClusterSetNames, PodRunner } from '../../support/pods/runner.ts';
import { createAudit } from '../control/audit.ts';
import type { Audit } from '../control/audit.ts';
import { adminOf, apply, runOperator } from '../control/harness.ts';

/** Another Kubernetes cluster, with its own pods and pod-set controller. */
export interface RemoteBed {
  audit: Audit;
  /** Of an account with the rights of a joined cluster, and no others. */
  kubeconfig: string;
  plane: OwnControlPlane;
  client: Client;
  runner: PodRunner;
  operator: Operator;
}

const ACCOUNT = 'stretch-operator';

function accountObjects(): object[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ACCOUNT };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: ACCOUNT }];
  const rules = rulesOf(STRETCH_RIGHTS);
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: ACCOUNT };
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ];
}

/** Garbage is collected as in any cluster, since that is how a deleted Kafka is cleaned up. */
export async function startPlane(apiServerArgs: readonly string[] = []): Promise<OwnControlPlane> {
  const plane = await startOwnControlPlane({
    controllerManager: ['garbage-collector-controller'],
    apiServerArgs,
  });
  await applyCrds(plane);
  return plane;
}

export async function startRemote(name: string, names: ClusterSetNames): Promise<RemoteBed> {
  const audit = createAudit(ACCOUNT);
  const plane = await startPlane(audit.args);
  await apply(plane, ...accountObjects());
  const kubeconfig = await readFile(await plane.userKubeconfig(ACCOUNT), 'utf8');
  const runner = await startPodRunner(plane, {
    nodes: [{ name: `node-${name}` }],
    clusterSet: { id: name, names },
  });
  return {
    audit,
    kubeconfig,
    plane,
    client: adminOf(plane),
    runner,
    operator: await runOperator(plane, { roads: ['pod-sets'] }),
  };
}

/** As `isthmus join` leaves it. */
export const joinSecret = (name: string, kubeconfig: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: `cluster-${name}`,
    namespace: 'default',
    labels: { 'connectivity.tanzu.vmware.com/cluster-name': name },
  },
  stringData: { kubeconfig },
});

/** Ends it, also while it is paused. */
export async function stopRemote({ plane, operator, runner, client }: RemoteBed): Promise<void> {
  plane.resume();
  await operator.stop();
  await runner.stop();
  await client.close();
  await plane.stop();
}
