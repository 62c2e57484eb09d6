import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { testKmsContract } from '../../../../test/support/kms-contract.ts';
import type { KmsConditions, KmsUnderTest } from '../../../../test/support/kms-contract.ts';
import { AZURE_CLIENT, AZURE_TENANT, AZURE_VAULT, startAzure } from '../../../../test/support/kms/azure.ts';
import type { AzureStandIn } from '../../../../test/support/kms/azure.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { workspace } from '../../../../test/support/workspace.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import { BadEnvelope } from '../../kms.ts';
import { azureKms } from './azure.ts';
import { azureSchema } from './config.ts';
import { KEY_TYPES, readAzureEdek, writeAzureEdek } from './edek.ts';

interface AzureUnderTest extends KmsUnderTest {
  azure: AzureStandIn;
}

const WAYS: Record<string, (azure: AzureStandIn, folder: string) => object | Promise<object>> = {
  'client credentials': (azure) => ({
    oauth2ClientCredentials: {
      oauthEndpoint: azure.url,
      tenantId: AZURE_TENANT,
      clientId: { password: AZURE_CLIENT },
      clientSecret: { password: azure.clientSecret },
    },
  }),
  'managed identity': (azure) => ({ managedIdentityCredentials: { identityServiceEndpoint: azure.url } }),
  async 'workload identity'(azure, folder) {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, azure.podToken);
    const whoWeAre = { tenantId: AZURE_TENANT, clientId: AZURE_CLIENT, tokenFile };
    return { workloadIdentityCredentials: { oauthEndpoint: azure.url, ...whoWeAre } };
  },
};

async function make(way: string, { timeoutMs }: KmsConditions = {}): Promise<AzureUnderTest> {
  await using starting = new AsyncDisposableStack();
  const clock = { ms: Date.now() };
  const azure = starting.use(await startAzure(['KEK-a', 'KEK-b']));
  const config = azureSchema.parse({
    keyVaultName: AZURE_VAULT,
    keyVaultHost: 'vault.test',
    keyVaultScheme: 'http',
    keyVaultPort: azure.port,
    ...(await WAYS[way]!(azure, workspace('azure'))),
  });
  const kms = azureKms(config, {
    outbound: LOOPBACK,
    now: () => clock.ms,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  starting.defer(() => kms.close());
  const started = starting.move();
  return {
    kms,
    azure,
    aliases: ['KEK-a', 'KEK-b'],
    unknownKekId: `${AZURE_VAULT}/nobody`,
    server: azure,
    rotate: (alias) => azure.keys.rotate(alias),
    versionIn: (edek) => readAzureEdek(edek).keyVersion,
    replaceCredentials() {
      clock.ms += 10_000; // no credential is asked for anew right after it was given
      azure.token = 'another token';
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

for (const way of Object.keys(WAYS))
  testKmsContract(`Azure by ${way}`, (conditions) => make(way, conditions), [
    'rotate',
    'replaceCredentials',
    'server',
  ]);

suite('Azure', () => {
  test('the wrapped key has the original’s layout', async () => {
    await using under = await make('managed identity');
    const { edek } = await under.kms.generateDek(`${AZURE_VAULT}/KEK-a`);
    assert.equal(edek.toString('latin1', 0, 17), '\0\x05KEK-a\x09our-vault');
    assert.equal(edek[17], 0, 'RSA');
    assert.equal(edek.toString('hex', 18, 34), under.azure.versionName('KEK-a', 1));
    assert.equal(edek.length, 34 + 12 + 32 + 16);
  });

  test('a version that is no number of 16 bytes has a layout of its own', async () => {
    await using under = await make('managed identity');
    under.azure.versionName = (_key, version) => `v${version}`;
    const { dek, edek } = await under.kms.generateDek(`${AZURE_VAULT}/KEK-a`);
    assert.equal(edek.toString('latin1', 0, 21), '\x01\x05KEK-a\x09our-vault\0\x02v1');
    assert.deepEqual(await under.kms.decryptEdek(edek), dek);
  });

  test('what is written is read, and anything else is a bad envelope', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9]{3,24}$/);
    const version = fc.oneof(fc.stringMatching(/^[0-9a-f]{32}$/), fc.stringMatching(/^[A-Z0-9]{1,40}$/));
    const wrapped = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const keyType = fc.constantFrom(...KEY_TYPES);
    const fields = { keyName: name, vaultName: name, keyType, keyVersion: version, wrapped };
    const edek = fc.record(fields, { noNullPrototype: true });
    fc.assert(fc.property(edek, (one) => assert.deepEqual(readAzureEdek(writeAzureEdek(one)), one)));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        try {
          const { vaultName, keyName, keyVersion } = readAzureEdek(Buffer.from(bytes));
          assert.match(`${vaultName}/${keyName}/${keyVersion}`, /^[\w-]+\/[\w-]+\/[\w-]+$/);
        } catch (error) {
          assert.ok(error instanceof BadEnvelope);
        }
      }),
    );
  });

  test('the process’s own identity is for hosts that an admin has named', () => {
    const outbound: Outbound = { ...LOOPBACK, mayIdentifyTo: ({ hostname }) => hostname.endsWith('.ours') };
    const made = (keyVaultHost: string, credentials: object) =>
      azureKms(azureSchema.parse({ keyVaultName: 'vault', keyVaultHost, ...credentials }), {
        outbound,
      }).close();
    const workload = { tenantId: 't', clientId: 'c', tokenFile: '/t' };
    const oauthEndpoint = 'https://login.ours/';
    for (const credentials of [
      { managedIdentityCredentials: {} },
      { workloadIdentityCredentials: { ...workload, oauthEndpoint } },
    ]) {
      assert.throws(() => made('vault.theirs', credentials), /identityHosts does not name/);
      made('vault.ours', credentials);
    }
    const theirs = { workloadIdentityCredentials: { ...workload, oauthEndpoint: 'https://login.theirs/' } };
    assert.throws(() => made('vault.ours', theirs), /towards https:\/\/login\.theirs/);
    const client = { oauthEndpoint, tenantId: 't', clientId: { password: 'c' } };
    const fromFile = { oauth2ClientCredentials: { ...client, clientSecret: { passwordFile: '/s' } } };
    made('vault.theirs', fromFile); // which goes to the login only
    const toThem = { ...fromFile.oauth2ClientCredentials, oauthEndpoint: 'https://login.theirs/' };
    assert.throws(() => made('vault.ours', { oauth2ClientCredentials: toThem }), /the file \/s/);
  });

  test('the configuration is checked key by key', () => {
    const good = { keyVaultName: 'my-vault', managedIdentityCredentials: {} };
    const keys = (document: unknown) =>
      azureSchema.safeParse(document).error?.issues.map(({ path }) => path.join('.'));
    assert.equal(keys(good), undefined);
    assert.equal(keys({ ...good, keyVaultName: 'a-b' }), undefined);
    for (const keyVaultName of [
      '-vault',
      'vault-',
      'va--ult',
      'a.b',
      'ab',
      'a'.repeat(25),
      'a-'.repeat(12) + 'a',
    ])
      assert.deepEqual(keys({ ...good, keyVaultName }), ['keyVaultName'], keyVaultName);
    assert.deepEqual(keys({ ...good, keyVaultHost: 'evil.example/x' }), ['keyVaultHost']);
    assert.deepEqual(keys({ keyVaultName: 'my-vault' }), ['oauth2ClientCredentials']);
    assert.deepEqual(keys({ ...good, workloadIdentityCredentials: {} }), ['oauth2ClientCredentials']);
  });
});
