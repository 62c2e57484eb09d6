import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority } from '../../../test/support/pki.ts';
import { checkUsable } from './check.ts';
import type { ProxyConfig } from './model.ts';

const authority = await createAuthority('an authority');
const server = await authority.issue({ commonName: 'proxy', dns: ['localhost'] });
const rules = { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
const keys = [{ certificate: server.certPem, privateKey: server.keyPem, passphrase: undefined }];

const config = (trust: string | undefined) =>
  ({
    virtualClusters: [
      {
        name: 'c',
        gateways: [{ name: 'g', tls: { keys, trust, clientAuth: 'required', rules } }],
        filters: [],
        target: { bootstrapServers: [], tls: { key: undefined, trust, insecure: false, rules } },
      },
    ],
  }) as unknown as ProxyConfig;

test('trust is in certificates, or it is no configuration', async () => {
  for (const trust of [undefined, authority.certPem, `# ours\n${authority.certPem}${server.certPem}`])
    assert.equal((await checkUsable(config(trust), 'proxy.yaml')).length, 1);
  for (const trust of ['', 'no certificate', server.keyPem])
    await assert.rejects(checkUsable(config(trust), 'proxy.yaml'), (error: Error) => {
      assert.match(error.message, /gateways\[g\]\.tls\.trust: has no certificate in it/);
      assert.match(error.message, /targetCluster\.tls\.trust: has no certificate in it/);
      return true;
    });
});
