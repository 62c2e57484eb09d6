/** The files a control plane is started with: certificates, keys and kubeconfigs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createAuthority, signingKeys } from '../pki.ts';
import type { Authority, KeyPairPem } from '../pki.ts';
import { FILES } from './commands.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig with everything embedded. */
export function kubeconfigText(url: string, caPem: string, user: KeyPairPem): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'testbed', cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
      users: [
        {
          name: 'user',
          user: { 'client-certificate-data': base64(user.certPem), 'client-key-data': base64(user.keyPem) },
        },
      ],
      contexts: [{ name: 'testbed', context: { cluster: 'testbed', user: 'user' } }],
      'current-context': 'testbed',
    },
    { lineWidth: 0 },
  );
}

/** What the rest of the testbed needs to know of the files written. */
export interface Identity {
  authority: Authority;
  admin: KeyPairPem;
  adminKubeconfig: string;
}

/** Writes all files below the directory. */
export async function writeFiles(directory: string, url: string): Promise<Identity> {
  const authority = await createAuthority('testbed');
  const [apiServer, admin, controllerManager, scheduler] = await Promise.all([
    authority.issue({
      commonName: 'kube-apiserver',
      dns: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ips: ['127.0.0.1', '10.96.0.1'],
    }),
    authority.issue({ commonName: 'admin', organizations: ['system:masters'] }),
    authority.issue({ commonName: 'system:kube-controller-manager' }),
    authority.issue({ commonName: 'system:kube-scheduler' }),
  ]);
  const serviceAccount = signingKeys();
  const config = (user: KeyPairPem) => kubeconfigText(url, authority.certPem, user);
  const contents: Partial<Record<keyof typeof FILES, string>> = {
    ca: authority.certPem,
    caKey: authority.keyPem,
    apiServer: apiServer.certPem,
    apiServerKey: apiServer.keyPem,
    serviceAccountPublic: serviceAccount.publicPem,
    serviceAccountPrivate: serviceAccount.privatePem,
    admin: config(admin),
    controllerManager: config(controllerManager),
    scheduler: config(scheduler),
  };
  await mkdir(join(directory, 'pki'), { recursive: true });
  for (const [name, text] of Object.entries(contents)) {
    await writeFile(join(directory, FILES[name as keyof typeof FILES]), text, { mode: 0o600 });
  }
  return { authority, admin, adminKubeconfig: config(admin) };
}
