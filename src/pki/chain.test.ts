/** Each case is decided by OpenSSL as well, in a real handshake: that is what is to be foretold. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { createAuthority } from '../../test/support/pki.ts';
import type { Authority, KeyPairPem } from '../../test/support/pki.ts';
import { isFault, readCertificates } from './certificate-facts.ts';
import { chainProblem } from './chain.ts';

function factsOf(pem: string) {
  const certificates = readCertificates(pem);
  assert.ok(!isFault(certificates));
  return certificates;
}

/** What a client says that trusts just these. */
async function refusalOf(chain: string, key: string, ca: string): Promise<string | undefined> {
  const server = createServer({ cert: chain, key }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', ca, rejectUnauthorized: false, checkServerIdentity: () => undefined }); // prettier-ignore
  try {
    await once(client, 'secureConnect');
    return client.authorizationError ? String(client.authorizationError) : undefined;
  } finally {
    client.destroy();
    server.close();
  }
}

const node = (authority: Authority, days?: number) =>
  authority.issue({ commonName: 'node', ...(days !== undefined && { days }) });

/** Both verdicts: ours, after it was seen that OpenSSL has the same. */
async function problemWith(leaf: KeyPairPem, beside: readonly Authority[], trusted: readonly Authority[]) {
  const pemOf = (authorities: readonly Authority[]) => authorities.map(({ certPem }) => certPem).join('');
  const [chain, ca] = [leaf.certPem + pemOf(beside), pemOf(trusted)];
  const ours = chainProblem(factsOf(chain), factsOf(ca), new Date());
  const theirs = await refusalOf(chain, leaf.keyPem, ca);
  assert.equal(ours === undefined, theirs === undefined, `${ours} here, ${theirs} there`);
  return ours;
}

suite('a chain', () => {
  test('is believed up to a root that is trusted, whichever side has what is between', async () => {
    const root = await createAuthority('root');
    const between = await root.issueAuthority('between');
    const lower = await between.issueAuthority('lower');
    assert.equal(await problemWith(await node(root), [], [root]), undefined);
    assert.equal(await problemWith(await node(between), [between], [root]), undefined);
    assert.equal(await problemWith(await node(between), [], [between, root]), undefined);
    assert.equal(await problemWith(await node(lower), [lower, between], [root]), undefined);
    assert.equal(await problemWith(await node(lower), [lower], [root, between]), undefined);
    const other = await createAuthority('other');
    assert.equal(await problemWith(await node(root), [], [other, root]), undefined);
  });

  test('that does not reach a root is not, and what is missing is said', async () => {
    const root = await createAuthority('root');
    const between = await root.issueAuthority('between');
    const leaf = await node(between);
    const missing = 'CN=between is signed by CN=root, whose certificate is missing';
    assert.equal(await problemWith(leaf, [between], [between]), missing);
    assert.equal(await problemWith(leaf, [], [root]), 'CN=node is signed by CN=between, whose certificate is missing'); // prettier-ignore
    const namesake = await createAuthority('root');
    assert.equal(await problemWith(leaf, [between], [namesake]), missing);
    assert.equal(await problemWith(leaf, [between, root], [namesake]), 'CN=root is not trusted');
  });

  test('with an authority that may not sign, has ended, or may have none below it is not', async () => {
    const root = await createAuthority('root');
    const impostor = await root.issueAuthority('impostor', { isAuthority: false });
    const ended = await root.issueAuthority('between', { days: -1 });
    assert.match((await problemWith(await node(ended), [ended], [root])) ?? '', /^CN=between has ended at /);
    assert.match((await problemWith(await node(root, -1), [], [root])) ?? '', /^CN=node has ended at /);
    const narrow = await createAuthority('narrow', { pathLength: 0 });
    const below = await narrow.issueAuthority('below');
    assert.equal(await problemWith(await node(narrow), [], [narrow]), undefined);
    assert.equal(await problemWith(await node(below), [below], [narrow]), 'CN=narrow allows 0 CAs below it (pathLenConstraint), and 1 are there'); // prettier-ignore
    assert.equal(await problemWith(await node(impostor), [impostor], [root]), 'CN=impostor is not the certificate of a CA'); // prettier-ignore
  });

  test('has more than one way up where an authority was renewed', async () => {
    const root = await createAuthority('root');
    const [old, renewed] = [await root.issueAuthority('between', { days: -1 }), await root.issueAuthority('between')]; // prettier-ignore
    const leaf = await node(renewed);
    assert.equal(await problemWith(leaf, [renewed], [old, renewed, root]), undefined);
  });
});
