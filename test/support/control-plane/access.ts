/** Ways to a control plane, whoever started it. */
import { request } from 'node:https';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import type { ControlPlane, Description } from '../control-plane.ts';
import { takeLease } from '../shared/lease.ts';
import type { Kept } from '../shared/lease.ts';
import type { Identity } from './files.ts';

const cacheOf = ({ directory }: Description) => join(directory, 'cache');

/** Runs kubectl as an administrator, unless told otherwise. */
export function kubectlOf(plane: Description): ControlPlane['kubectl'] {
  return (args, { stdin, kubeconfig } = {}) => {
    // A cache of its own: the default one goes by address, and ports are used again by other control planes.
    const own = [`--kubeconfig=${kubeconfig ?? plane.kubeconfig}`, `--cache-dir=${cacheOf(plane)}`];
    return run(plane.kubectlProgram, [...own, ...args], { stdin });
  };
}

/** What is answered to a GET as administrator, or undefined if nobody answers. */
export function getAsAdmin(
  url: string,
  { admin, authority }: Identity,
  accept = 'application/json',
): Promise<{ status: number; text: string } | undefined> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; text: string } | undefined>();
  const identity = { ca: authority.certPem, cert: admin.certPem, key: admin.keyPem };
  const req = request(url, { ...identity, agent: false, timeout: 5000, headers: { accept } }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
    );
    response.on('error', () => resolve(undefined));
  });
  req.on('timeout', () => req.destroy());
  req.on('error', () => resolve(undefined));
  req.end();
  return promise;
}

/** A control plane that the test runner keeps, if there is one who does. */
export async function takeControlPlane(kind: Kept): Promise<ControlPlane | undefined> {
  const taken = await takeLease<Description>(kind);
  if (!taken) return undefined;
  const { given, lease } = taken;
  rmSync(cacheOf(given), { recursive: true, force: true }); // of whoever had it before, and other kinds
  return {
    ...given,
    kubectl: kubectlOf(given),
    userKubeconfig: (user, groups = []) => lease.call('userKubeconfig', user, groups),
    killApiServer: () => lease.call('killApiServer'),
    startApiServer: () => lease.call('startApiServer'),
    stopEtcd: () => lease.call('stopEtcd'),
    startEtcd: () => lease.call('startEtcd'),
    memory: () => lease.call('memory'),
    stop: () => lease.end(),
    [Symbol.asyncDispose]: () => lease.end(),
  };
}
