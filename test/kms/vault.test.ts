/** The contract of a key service with a real Vault, by token, token file and AppRole: what the stand-in is held against. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { vaultSchema } from '../../src/crypto/kms/vault/config.ts';
import { vaultKms } from '../../src/crypto/kms/vault/vault.ts';
import { KmsRefused } from '../../src/crypto/kms.ts';
import { testKmsContract } from '../support/kms-contract.ts';
import type { KmsUnderTest } from '../support/kms-contract.ts';
import { POLICY, startRealVault } from '../support/kms/real-vault.ts';
import type { RealVault } from '../support/kms/real-vault.ts';
import { LOOPBACK } from '../support/kms/stand-in.ts';
import { workspace } from '../support/workspace.ts';

let vault: RealVault;
before(async () => {
  vault = await startRealVault();
});
after(() => vault?.[Symbol.asyncDispose]());

async function newToken(): Promise<string> {
  const made = await vault.ask('POST', 'auth/token/create', { policies: ['ours'], ttl: '10m' });
  return (made as { auth: { client_token: string } }).auth.client_token;
}

async function byAppRole(): Promise<object> {
  await vault.ask('POST', 'auth/approle/role/ours', { token_policies: 'ours', token_ttl: '10m' });
  const role = (await vault.ask('GET', 'auth/approle/role/ours/role-id')) as { data: { role_id: string } };
  const made = (await vault.ask('POST', 'auth/approle/role/ours/secret-id', {})) as {
    data: { secret_id: string };
  };
  const appRole = { roleId: role.data.role_id, secretId: { password: made.data.secret_id } };
  return { auth: { appRole } };
}

/** Each has two keys of its own. */
async function make(
  access: object,
  change: Partial<KmsUnderTest> = {},
  clock = { ms: 0 },
): Promise<KmsUnderTest> {
  const prefix = randomBytes(4).toString('hex');
  const aliases = [`KEK-${prefix}-a`, `KEK-${prefix}-b`] as const;
  for (const alias of aliases) await vault.ask('POST', `transit/keys/${alias}`, {});
  const config = vaultSchema.parse({ vaultTransitEngineUrl: `${vault.url}/v1/transit`, ...access });
  const kms = vaultKms(config, { outbound: LOOPBACK, now: () => Date.now() + clock.ms });
  return {
    kms,
    aliases,
    unknownKekId: `KEK-${prefix}-nobody`,
    rotate: async (alias) => void (await vault.ask('POST', `transit/keys/${alias}/rotate`, {})),
    versionIn: (edek) => /vault:(v\d+):/.exec(edek.toString('latin1'))?.[1],
    ...change,
    [Symbol.asyncDispose]: async () => kms.close(),
  };
}

async function makeByFile(): Promise<KmsUnderTest> {
  const passwordFile = join(workspace('token'), 'token');
  const clock = { ms: 0 };
  const token = await newToken();
  await writeFile(passwordFile, token);
  const replaceCredentials = async () => {
    clock.ms += 10_000; // no credential is asked for anew right after it was given
    await vault.ask('POST', 'auth/token/revoke', { token });
    await writeFile(passwordFile, await newToken());
  };
  return make({ vaultToken: { passwordFile } }, { replaceCredentials }, clock);
}

testKmsContract('a real Vault by token', async () => make({ vaultToken: { password: await newToken() } }), [
  'rotate',
]);
testKmsContract('a real Vault by token file', makeByFile, ['rotate', 'replaceCredentials']);
testKmsContract('a real Vault by AppRole', async () => make(await byAppRole()), ['rotate']);

suite('a real Vault', () => {
  test('without rights it refuses, and with them it goes on', async () => {
    await using under = await make(await byAppRole());
    const [alias] = under.aliases;
    const { dek, edek } = await under.kms.generateDek(alias);
    await vault.ask('PUT', 'sys/policies/acl/ours', { policy: 'path "none" { capabilities = ["read"] }' });
    await assert.rejects(under.kms.decryptEdek(edek), KmsRefused);
    await vault.ask('PUT', 'sys/policies/acl/ours', { policy: POLICY });
    assert.deepEqual(await under.kms.decryptEdek(edek), dek);
  });
});
