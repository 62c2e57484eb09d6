import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { testKmsContract } from '../../../../test/support/kms-contract.ts';
import type { KmsConditions, KmsUnderTest } from '../../../../test/support/kms-contract.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { startVault } from '../../../../test/support/kms/vault.ts';
import type { VaultStandIn } from '../../../../test/support/kms/vault.ts';
import { workspace } from '../../../../test/support/workspace.ts';
import { KmsRefused } from '../../kms.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import { vaultSchema } from './config.ts';
import { vaultKms } from './vault.ts';

const WAYS = ['token', 'token file', 'kubernetes', 'appRole', 'jwt'] as const;
type Way = (typeof WAYS)[number];

interface VaultUnderTest extends KmsUnderTest {
  vault: VaultStandIn;
  clock: { ms: number };
}

/** A way to be let in: what the configuration says, and how to be let in after all that was known before is refused. */
interface Access {
  config: object;
  replace?: () => unknown;
}

const password = (text: string) => ({ password: text });

async function byTokenFile(vault: VaultStandIn, file: string): Promise<Access> {
  await writeFile(file, `${vault.issue(0)}\n`);
  const replace = () => {
    vault.revokeAll();
    return writeFile(file, vault.issue(0));
  };
  return { config: { vaultToken: { passwordFile: file } }, replace };
}

async function byPodToken(vault: VaultStandIn, file: string): Promise<Access> {
  await writeFile(file, vault.logins.kubernetes);
  const replace = () => {
    vault.revokeAll();
    vault.logins.kubernetes = 'another pod token';
    return writeFile(file, vault.logins.kubernetes);
  };
  return { config: { auth: { kubernetes: { role: 'our-role', tokenFile: file } } }, replace };
}

const ACCESS: Record<Way, (vault: VaultStandIn, file: string) => Access | Promise<Access>> = {
  token: (vault) => ({ config: { vaultToken: password(vault.issue(0)) } }),
  'token file': byTokenFile,
  kubernetes: byPodToken,
  appRole: (vault) => ({
    config: { auth: { appRole: { roleId: 'our-role', secretId: password(vault.logins.approle) } } },
    replace: () => vault.revokeAll(),
  }),
  jwt: (vault) => ({
    config: { auth: { jwt: { role: 'our-role', jwt: password(vault.logins.jwt) } } },
    replace: () => vault.revokeAll(),
  }),
};

async function make(
  way: Way,
  { timeoutMs }: KmsConditions = {},
  extra: object = {},
): Promise<VaultUnderTest> {
  await using starting = new AsyncDisposableStack();
  const clock = { ms: Date.now() };
  const { namespace } = extra as { namespace?: string };
  const vault = starting.use(await startVault(['KEK-a', 'KEK-b'], () => clock.ms, namespace));
  const { config, replace } = await ACCESS[way](vault, join(workspace('vault'), 'secret'));
  const vaultTransitEngineUrl = `${vault.url}/v1/transit`;
  const kms = vaultKms(vaultSchema.parse({ vaultTransitEngineUrl, ...config, ...extra }), {
    outbound: LOOPBACK,
    now: () => clock.ms,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  starting.defer(() => kms.close());
  const started = starting.move();
  return {
    kms,
    vault,
    clock,
    aliases: ['KEK-a', 'KEK-b'],
    unknownKekId: 'KEK-nobody',
    server: vault,
    rotate: (alias) => vault.keys.rotate(alias),
    versionIn: (edek) => /vault:(v\d+):/.exec(edek.toString('latin1'))?.[1],
    ...(replace && {
      async replaceCredentials() {
        clock.ms += 10_000; // no credential is asked for anew right after it was given
        await replace();
      },
    }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

for (const way of WAYS)
  testKmsContract(
    `Vault by ${way}`,
    (conditions) => make(way, conditions),
    way === 'token' ? ['rotate', 'server'] : ['rotate', 'server', 'replaceCredentials'],
  );
testKmsContract('Vault in a namespace', (conditions) =>
  make('appRole', conditions, { namespace: 'team/one' }),
);

suite('Vault', () => {
  test('the wrapped key has the original’s layout', async () => {
    await using under = await make('token');
    const { edek } = await under.kms.generateDek('KEK-a');
    assert.equal(edek[0], 'KEK-a'.length);
    assert.match(edek.toString('latin1', 1), /^KEK-avault:v1:[A-Za-z0-9+/]+=*$/);
  });

  test('a wrapped key of the original names its key', async () => {
    await using under = await make('token');
    assert.equal(
      under.kms.kekOf(Buffer.from('074b454b2d666f6f7661756c743a76313a41414141', 'hex')),
      'KEK-foo',
    );
  });

  test('a name that would lead elsewhere is sent nowhere', async () => {
    await using under = await make('token');
    const edek = Buffer.from('\x09../../sysvault:v1:AAAA');
    assert.throws(() => under.kms.kekOf(edek), /names no key of Vault/);
    await assert.rejects(under.kms.decryptEdek(edek), /names no key of Vault/);
    await assert.rejects(under.kms.generateDek('../../sys'), /does not know/);
    assert.deepEqual(under.vault.requests, []);
  });

  const renewals = ({ vault }: VaultUnderTest) =>
    vault.requests.filter(({ path }) => path.endsWith('/renew-self')).length;
  const logins = ({ vault }: VaultUnderTest) =>
    vault.requests.filter(({ path }) => path.endsWith('/login')).length;

  test('a token is renewed before it ends, and one that cannot live longer is replaced', async () => {
    await using under = await make('appRole');
    under.vault.maxTtlSeconds = 3 * 3600;
    await under.kms.generateDek('KEK-a');
    for (let minutes = 0; minutes < 6 * 60; minutes += 10) {
      under.clock.ms += 600_000;
      await under.kms.generateDek('KEK-a');
    }
    assert.ok(renewals(under) > 3, `${renewals(under)} renewals`);
    assert.ok(logins(under) >= 2 && logins(under) <= 5, `${logins(under)} logins`);
    const refused = under.vault.requests.length;
    assert.ok(refused < 80, 'nothing was asked twice');
  });

  test('a token that was given lives on, too, if it may', async () => {
    await using under = await make('token', {}, {});
    const kms = vaultKms(
      vaultSchema.parse({
        vaultTransitEngineUrl: `${under.vault.url}/v1/transit`,
        vaultToken: { password: under.vault.issue(600) },
      }),
      { outbound: LOOPBACK, now: () => under.clock.ms },
    );
    for (let minutes = 0; minutes < 60; minutes += 9) {
      await kms.generateDek('KEK-a');
      under.clock.ms += 540_000;
    }
    assert.ok(renewals(under) >= 5);
    kms.close();
  });

  test('many who wait are let in by one login', async () => {
    await using under = await make('jwt');
    await Promise.all(Array.from({ length: 20 }, () => under.kms.generateDek('KEK-a')));
    assert.equal(logins(under), 1);
  });

  test('one who has no rights does not log in again and again', async () => {
    await using under = await make('jwt');
    under.vault.fault = 'refuse';
    for (let i = 0; i < 5; i++) await assert.rejects(under.kms.generateDek('KEK-a'), KmsRefused);
    assert.equal(logins(under), 1);
  });

  test('files of the process are for hosts that an admin has named', async () => {
    const outbound: Outbound = { ...LOOPBACK, mayIdentifyTo: ({ hostname }) => hostname === 'vault.ours' };
    const made = (host: string, config: object) =>
      vaultKms(vaultSchema.parse({ vaultTransitEngineUrl: `https://${host}/v1/transit`, ...config }), {
        outbound,
      }).close();
    const inFile = { passwordFile: '/etc/isthmus/config.yaml' };
    const configs = [
      { vaultToken: inFile },
      { auth: { kubernetes: { role: 'r' } } },
      { auth: { appRole: { roleId: 'r', secretId: inFile } } },
      { auth: { jwt: { role: 'r', jwt: inFile } } },
      { vaultToken: { password: 'p' }, tls: { trust: { storeFile: '/dev/zero', storeType: 'PEM' } } },
    ];
    for (const config of configs) {
      assert.throws(() => made('vault.theirs', config), /identityHosts does not name/);
      made('vault.ours', config);
    }
    made('vault.theirs', { vaultToken: { password: 'p' } });
  });

  test('the configuration is checked key by key', () => {
    const good = { vaultTransitEngineUrl: 'https://vault:8200/v1/transit', vaultToken: { password: 'p' } };
    const keys = (document: unknown) =>
      vaultSchema.safeParse(document).error?.issues.map(({ path }) => path.join('.'));
    assert.equal(keys(good), undefined);
    assert.deepEqual(keys({ ...good, vaultTransitEngineUrl: 'https://vault:8200/' }), [
      'vaultTransitEngineUrl',
    ]);
    assert.deepEqual(keys({ ...good, vaultTransitEngineUrl: 'file:///v1/x' }), ['vaultTransitEngineUrl']);
    assert.deepEqual(keys({ ...good, vaultTransitEngineUrl: 'https://u:p@vault/v1/x' }), [
      'vaultTransitEngineUrl',
    ]);
    assert.deepEqual(keys({ ...good, auth: { kubernetes: { role: 'r' } } }), ['vaultToken']);
    assert.deepEqual(keys({ ...good, vaultToken: undefined }), ['vaultToken']);
    assert.deepEqual(keys({ ...good, namespace: '../x' }), ['namespace']);
    assert.deepEqual(keys({ ...good, tls: { trust: { insecure: true } } }), ['tls.trust']);
  });
});
