/** The operator's own ServiceAccount, as `isthmus install` makes it: what it may do is what the road gets by with. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { workspace } from '../../support/workspace.ts';

/** The path of a kubeconfig for an account in this namespace, by default the operator's. */
export async function accountKubeconfig(
  plane: ControlPlane,
  namespace: string,
  account = 'isthmus-operator',
): Promise<string> {
  const args = ['create', 'token', account, '-n', namespace];
  const { code, stdout, stderr } = await plane.kubectl(args);
  assert.equal(code, 0, stderr);
  const ca = Buffer.from(plane.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: plane.url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token: stdout.trim() } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const path = join(workspace('rights'), `${namespace}-${account}.kubeconfig`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Waits until rights of an operator's account, and that to take the lead, count: the server learns of them a moment later. */
export async function untilGranted(
  plane: ControlPlane,
  namespace: string,
  ...rights: string[][]
): Promise<void> {
  const account = `--as=system:serviceaccount:${namespace}:isthmus-operator`;
  for (const right of [...rights, ['create', 'leases.coordination.k8s.io', '-n', namespace]]) {
    const isGranted = async () => (await plane.kubectl(['auth', 'can-i', ...right, account])).code === 0;
    await waitFor(`the right to ${right.join(' ')}`, isGranted);
  }
}
