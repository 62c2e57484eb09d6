import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { testKmsContract } from '../../../../test/support/kms-contract.ts';
import type { KmsConditions, KmsUnderTest } from '../../../../test/support/kms-contract.ts';
import { GCP_KEY_RING, startGcp } from '../../../../test/support/kms/gcp.ts';
import type { GcpStandIn } from '../../../../test/support/kms/gcp.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { workspace } from '../../../../test/support/workspace.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import { gcpSchema } from './config.ts';
import { gcpKms } from './gcp.ts';

interface Access {
  credentials: object;
  replace?: () => unknown;
}

const WAYS: Record<string, (gcp: GcpStandIn, folder: string) => Access | Promise<Access>> = {
  async 'a service account’s key'(gcp, folder) {
    const passwordFile = join(folder, 'key.json');
    const write = () => writeFile(passwordFile, gcp.newKeyFile());
    await write();
    return { credentials: { serviceAccountKey: { passwordFile } }, replace: write };
  },
  metadata: (gcp) => ({ credentials: { metadata: { metadataEndpoint: gcp.url } } }),
};

async function make(way: string, { timeoutMs }: KmsConditions = {}): Promise<KmsUnderTest> {
  await using starting = new AsyncDisposableStack();
  const clock = { ms: Date.now() };
  const gcp = starting.use(await startGcp(['KEK-a', 'KEK-b'], () => clock.ms));
  const { credentials, replace } = await WAYS[way]!(gcp, workspace('gcp'));
  const config = gcpSchema.parse({ keyRing: GCP_KEY_RING, endpointUrl: gcp.url, credentials });
  const kms = gcpKms(config, {
    outbound: LOOPBACK,
    now: () => clock.ms,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  starting.defer(() => kms.close());
  const started = starting.move();
  return {
    kms,
    aliases: ['KEK-a', 'KEK-b'],
    unknownKekId: `${GCP_KEY_RING}/cryptoKeys/nobody`,
    server: gcp,
    rotate: (alias) => gcp.keys.rotate(alias),
    versionIn: (edek) => edek[2 + edek.readUInt16BE(0)]?.toString(),
    async replaceCredentials() {
      clock.ms += 10_000; // no credential is asked for anew right after it was given
      gcp.token = 'another token';
      await replace?.();
    },
    skewClock: (ms) => void (gcp.skewMs = ms),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

for (const way of Object.keys(WAYS))
  testKmsContract(`Google by ${way}`, (conditions) => make(way, conditions), [
    'rotate',
    'replaceCredentials',
    'skewClock',
    'server',
  ]);

suite('Google', () => {
  test('the wrapped key names the key, then has what Google made of it', async () => {
    await using under = await make('metadata');
    const kekId = `${GCP_KEY_RING}/cryptoKeys/KEK-a`;
    const { edek } = await under.kms.generateDek(kekId);
    assert.equal(edek[0], 0);
    assert.equal(edek[1], kekId.length);
    assert.equal(edek.toString('latin1', 2, 2 + kekId.length), kekId);
    assert.equal(edek.length, 2 + kekId.length + 1 + 12 + 32 + 16);
  });

  test('a resource that would lead elsewhere is sent nowhere', async () => {
    await using under = await make('metadata');
    const name = 'projects/../../../computeMetadata/v1';
    const edek = Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.alloc(40)]);
    await assert.rejects(under.kms.decryptEdek(edek), /names no key of Google/);
    await assert.rejects(under.kms.generateDek(name), /does not know/);
    assert.deepEqual(under.server!.requests, []);
  });

  test('the process’s own identity is for hosts that an admin has named, and so is where a key file leads', async () => {
    const outbound: Outbound = { ...LOOPBACK, mayIdentifyTo: ({ hostname }) => hostname.endsWith('.ours') };
    const made = (host: string, credentials: object) => {
      const config = { keyRing: GCP_KEY_RING, endpointUrl: `https://${host}/`, credentials };
      return gcpKms(gcpSchema.parse(config), { outbound });
    };
    const passwordFile = join(workspace('gcp'), 'key.json');
    for (const credentials of [{ metadata: {} }, { serviceAccountKey: { passwordFile } }]) {
      assert.throws(() => made('kms.theirs', credentials), /identityHosts does not name/);
      made('kms.ours', credentials).close();
    }
    const key = { client_email: 'a', private_key: 'b', token_uri: 'https://token.theirs/' };
    await writeFile(passwordFile, JSON.stringify(key));
    const kms = made('kms.ours', { serviceAccountKey: { passwordFile } });
    await assert.rejects(kms.resolveAlias('KEK-a'), /towards https:\/\/token\.theirs/);
    kms.close();
  });

  test('a key file that cannot be used is not quoted', async () => {
    for (const password of ['canary', '{"client_email":"canary","private_key":"canary"}']) {
      const config = gcpSchema.parse({
        keyRing: GCP_KEY_RING,
        credentials: { serviceAccountKey: { password } },
      });
      const kms = gcpKms(config, { outbound: LOOPBACK });
      await assert.rejects(kms.resolveAlias('a'), (error: Error) => {
        assert.match(error.message, /serviceAccountKey/);
        return !`${error.message} ${String(error.cause)}`.includes('canary');
      });
      kms.close();
    }
  });

  test('the configuration is checked key by key', () => {
    const good = { keyRing: GCP_KEY_RING, credentials: { metadata: {} } };
    const keys = (document: unknown) =>
      gcpSchema.safeParse(document).error?.issues.map(({ path }) => path.join('.'));
    assert.equal(keys(good), undefined);
    assert.deepEqual(keys({ ...good, keyRing: 'our-ring' }), ['keyRing']);
    assert.deepEqual(keys({ ...good, keyRing: `${GCP_KEY_RING}/../x` }), ['keyRing']);
    assert.deepEqual(keys({ ...good, credentials: {} }), ['credentials']);
  });
});
