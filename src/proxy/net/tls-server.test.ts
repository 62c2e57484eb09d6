import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { connect, setDefaultCACertificates } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { createAuthority } from '../../../test/support/pki.ts';
import type { ServerTls } from '../config/model.ts';
import { chooseCertificate, serverCertificates } from '../config/tls-context.ts';
import { createTlsServer } from './tls-server.ts';
import type { TlsServer } from './tls-server.ts';

const servers = await createAuthority('servers');
const tenant = await createAuthority('clients of a tenant');
const neighbour = await createAuthority('clients of its neighbour');
const server = await servers.issue({ commonName: 'proxy', dns: ['localhost'] });
const client = await tenant.issue({ commonName: 'client of the tenant' });
const ticketKeys = randomBytes(48);

function serverWith(trust: string | undefined, clientAuth: ServerTls['clientAuth']): TlsServer {
  const keys = [{ certificate: server.certPem, privateKey: server.keyPem, passphrase: undefined }];
  const rules = { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
  return createTlsServer({ keys, trust, clientAuth, rules }, ticketKeys, 10_000);
}

const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true }).listen(0, '127.0.0.1');
await once(listener, 'listening');
after(() => listener.close());

/** Connects to it, and gives both ends: the one that was accepted, and the one that begins TLS. */
async function meet(options: ConnectionOptions): Promise<{ accepted: Socket; mine: TLSSocket }> {
  const { port } = listener.address() as AddressInfo;
  const mine = connect({
    port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: servers.certPem,
    cert: client.certPem,
    key: client.keyPem,
    ...options,
  });
  mine.on('error', () => {}).resume();
  const [accepted] = (await once(listener, 'connection')) as [Socket];
  accepted.on('error', () => {});
  return { accepted, mine };
}

/** Connects and says whether the gateway took it, with the session to resume it with. */
async function visit(
  to: TlsServer,
  options: ConnectionOptions,
): Promise<{ principal?: string | undefined; resumed?: boolean; session?: Buffer; refused?: string }> {
  const { accepted, mine } = await meet(options);
  const session = Promise.withResolvers<Buffer>();
  mine.once('session', session.resolve);
  try {
    const { socket, principal } = await to.handshake(accepted);
    socket.on('error', () => {});
    const resumed = socket.isSessionReused();
    return { principal, resumed, session: options.session ?? (await session.promise) };
  } catch (error) {
    return { refused: String(error) };
  } finally {
    accepted.destroy();
    mine.destroy();
  }
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  for (const clientAuth of ['required', 'requested'] as const) {
    test(`a session of ${maxVersion} is worth no more than its certificate (${clientAuth})`, async () => {
      const first = await visit(serverWith(tenant.certPem, clientAuth), { maxVersion });
      assert.equal(first.principal, 'CN=client of the tenant');
      const session = first.session!;
      const again = await visit(serverWith(tenant.certPem, clientAuth), { maxVersion, session });
      assert.ok(again.resumed, 'the same trust resumes it, after a reload too');
      const { refused } = await visit(serverWith(neighbour.certPem, clientAuth), { maxVersion, session });
      assert.match(refused ?? 'taken', /certificate is not trusted/);
    });
  }
}

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`new ticket keys end the sessions of ${maxVersion} of before, and begin others`, async () => {
    const gateway = serverWith(tenant.certPem, 'required');
    const first = await visit(gateway, { maxVersion });
    const session = first.session!;
    assert.ok((await visit(gateway, { maxVersion, session })).resumed);
    const keys = randomBytes(48);
    gateway.setTicketKeys(keys);
    const old = await visit(gateway, { maxVersion, session });
    assert.deepEqual([old.resumed, old.principal], [false, 'CN=client of the tenant']);
    const renewed = await visit(gateway, { maxVersion });
    const resumed = await visit(gateway, { maxVersion, session: renewed.session! });
    assert.ok(resumed.resumed);
    const worker = serverWith(tenant.certPem, 'required');
    worker.setTicketKeys(keys);
    assert.ok((await visit(worker, { maxVersion, session: renewed.session! })).resumed, 'in any worker');
  });
}

test('a connection whose client is gone when its handshake ends is ended, and its waiting too', async () => {
  const { accepted, mine } = await meet({});
  // What the kernel says no more of a connection that was reset: the TLS socket has no address, the one below had.
  Object.defineProperty(accepted, 'remoteAddress', { value: '192.0.2.1' });
  await assert.rejects(serverWith(undefined, 'none').handshake(accepted), /disconnected/);
  assert.ok(accepted.destroyed);
  mine.destroy();
});

test('the certificate is the one for the name, however the client writes it', async () => {
  const others = await servers.issue({ commonName: 'other', dns: ['other.example'] });
  const keys = [server, others].map((each) => ({
    certificate: each.certPem,
    privateKey: each.keyPem,
    passphrase: undefined,
  }));
  const rules = { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
  const tls: ServerTls = { keys, trust: undefined, clientAuth: 'none', rules };
  const certificates = serverCertificates(tls, ticketKeys);
  for (const name of ['other.example', 'Other.Example', 'other.example.'])
    assert.equal(chooseCertificate(certificates, name)?.certificate.subject, 'CN=other');
  assert.equal(chooseCertificate(certificates, 'unknown.example')?.certificate.subject, 'CN=proxy');
});

test('no authority trusted is nobody trusted, not everybody who is known to the platform', async () => {
  setDefaultCACertificates([tenant.certPem]);
  const { refused } = await visit(serverWith('', 'required'), {});
  assert.match(refused ?? 'taken', /certificate is not trusted/);
});
