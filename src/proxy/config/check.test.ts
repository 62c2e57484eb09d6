import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthority } from '../../../test/support/pki.ts';
import { usableClusters } from './check.ts';
import type { VirtualClusterConfig } from './model.ts';

const authority = await createAuthority('an authority');
const server = await authority.issue({ commonName: 'proxy', dns: ['localhost'] });
const rules = { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
const keys = [{ certificate: server.certPem, privateKey: server.keyPem, passphrase: undefined }];

const cluster = (name: string, trust: string | undefined) =>
  ({
    name,
    gateways: [{ name: 'g', tls: { keys, trust, clientAuth: 'required', rules } }],
    filters: [],
    target: { bootstrapServers: [], tls: { key: undefined, trust, insecure: false, rules } },
  }) as unknown as VirtualClusterConfig;

test('trust is in certificates, or the virtual cluster cannot be used, and it alone', async () => {
  for (const trust of [undefined, authority.certPem, `# ours\n${authority.certPem}${server.certPem}`])
    assert.equal((await usableClusters([cluster('c', trust)])).certificates.length, 1);
  for (const trust of ['', 'no certificate', server.keyPem]) {
    const found = await usableClusters([cluster('bad', trust), cluster('good', undefined)]);
    assert.deepEqual(found.rejected, [
      { cluster: 'bad', problem: 'gateways[g].tls.trust: has no certificate in it', stage: 'load' },
      { cluster: 'bad', problem: 'targetCluster.tls.trust: has no certificate in it', stage: 'load' },
    ]);
    assert.deepEqual(
      [found.usable.map(({ name }) => name), found.certificates.map((fact) => fact.virtualCluster)],
      [['good'], ['good']],
    );
  }
});
