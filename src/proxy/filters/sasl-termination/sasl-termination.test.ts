import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { aboutMessage, receivedRequest, versionsOf } from '../../../../test/support/kafka/received.ts';
import { responseCodec } from '../../../kafka/codec.ts';
import { startScram } from '../../../kafka/scram.ts';
import { scramServer } from '../../../kafka/scram-server.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { saslTerminationSchema } from './config.ts';
import { saslTermination } from './sasl-termination.ts';

const CONFIG = {
  mechanisms: [{ mechanism: 'PLAIN' }, { mechanism: 'SCRAM-SHA-256' }],
  users: '# who may log in\nalice=wonder=land\nbob= pass word\n',
  fixedAuthDelay: '1ms',
};
const BROKER = {
  mechanism: 'PLAIN',
  username: 'proxy',
  password: 'proxy-canary',
  users: [{ principal: 'alice', username: 'alice-there', password: 'alice-canary' }],
};

interface Answer {
  errorCode: number;
  authBytes?: Buffer;
  errorMessage?: string;
  sessionLifetimeMs?: bigint;
}
type Handler = (
  message: object,
  context: MessageContext,
) => Promise<{ respond: Answer }> | { respond: Answer };
type Ask = (
  api: string,
  version: number,
  body: { mechanism?: string; authBytes?: Buffer },
) => Promise<object>;

/** The versions of the messages of a login. */
const NEWEST = { SaslHandshake: 1, SaslAuthenticate: 2 };

async function connect(
  config: object = {},
  ask: Ask = async () => ({}),
  { versions = NEWEST, principal }: { versions?: typeof NEWEST; principal?: string } = {},
) {
  const identified: string[] = [];
  const closing: string[] = [];
  const metrics = createMetrics();
  const setting = {
    virtualCluster: 'vc',
    name: 'f',
    metrics,
    log: createLog('silent'),
  } as unknown as FilterSetting;
  const filter = await saslTermination.create(saslTerminationSchema.parse({ ...CONFIG, ...config }), setting);
  const context = {
    identify: (user: string) => void identified.push(user),
    closeSoon: (why: string) => void closing.push(why),
    log: createLog('silent'),
    principal,
    ask,
  };
  const connection = filter.connect(context as unknown as ConnectionContext);
  const { onRequest, isStranger, newestVersions, onBegin } = connection;
  const send = async (api: 'SaslHandshake' | 'SaslAuthenticate', body: object) => {
    const version = versions[api];
    const request = receivedRequest(api, version, body);
    const { respond } = await (onRequest![api] as Handler)(request, aboutMessage(api, version));
    // Whoever asks in that version can read it.
    responseCodec(api, version).encode(respond);
    return respond;
  };
  const shake = async (mechanism: string) => send('SaslHandshake', { mechanism });
  const say = async (text: string) => send('SaslAuthenticate', { authBytes: Buffer.from(text) });
  return {
    onBegin,
    begin: async () => onBegin!(),
    close: () => connection.onClose!(),
    identified,
    closing,
    metrics,
    shake,
    say,
    isStranger: isStranger!,
    newestVersions: newestVersions!,
  };
}

test('a login is answered here: who knows the password is somebody, anybody else is told nothing and disconnected', async () => {
  const right = await connect();
  assert.deepEqual(await right.shake('PLAIN'), { errorCode: 0, mechanisms: ['PLAIN', 'SCRAM-SHA-256'] });
  assert.equal(right.isStranger(), true);
  assert.equal((await right.say('\0alice\0wonder=land')).errorCode, 0);
  assert.deepEqual([right.identified, right.isStranger(), right.closing], [['alice'], false, []]);
  const answers = [];
  for (const message of [
    '\0alice\0wrong',
    '\0eve\0wonder=land',
    'admin\0alice\0wonder=land',
    'nothing',
    '\0alice\0',
  ]) {
    const wrong = await connect();
    await wrong.shake('PLAIN');
    answers.push(await wrong.say(message));
    assert.deepEqual([wrong.identified, wrong.isStranger(), wrong.closing.length], [[], true, 1], message);
  }
  assert.deepEqual(
    new Set(answers.map((each) => JSON.stringify(each))),
    new Set([JSON.stringify(answers[0])]),
  );
  assert.equal(answers[0]!.errorCode, 58);
});

test('logins are answered in every version of their messages', async () => {
  for (const SaslHandshake of versionsOf('SaslHandshake'))
    for (const SaslAuthenticate of versionsOf('SaslAuthenticate')) {
      const versions = { SaslHandshake, SaslAuthenticate };
      const { shake, say, identified } = await connect({}, undefined, { versions });
      assert.equal((await shake('PLAIN')).errorCode, 0);
      assert.equal((await say('\0alice\0wonder=land')).errorCode, 0);
      assert.deepEqual(identified, ['alice']);
      const wrong = await connect({}, undefined, { versions });
      await wrong.shake('PLAIN');
      assert.equal((await wrong.say('\0alice\0wrong')).errorCode, 58);
      assert.deepEqual(wrong.identified, []);
    }
});

test('SCRAM takes two messages, and a mechanism that is not offered none', async () => {
  const { shake, say, identified } = await connect();
  assert.equal((await say('n,,n=alice,r=x')).errorCode, 34);
  assert.equal((await shake('SCRAM-SHA-512')).errorCode, 33);
  assert.equal((await say('n,,n=alice,r=x')).errorCode, 34);
  await shake('SCRAM-SHA-256');
  const scram = startScram('SCRAM-SHA-256', { username: 'bob', password: ' pass word' });
  const first = await say(scram.first);
  assert.equal(first.errorCode, 0);
  const last = await say(await scram.final(first.authBytes!.toString()));
  assert.equal(scram.verify(last.authBytes!.toString()), true);
  assert.deepEqual(identified, ['bob']);
});

test('who logs in again stays who they are', async () => {
  const { shake, say, closing } = await connect({ maxTimeBeforeReauth: '1m' });
  await shake('PLAIN');
  assert.equal((await say('\0alice\0wonder=land')).sessionLifetimeMs, 60_000n);
  await shake('PLAIN');
  assert.equal((await say('\0alice\0wonder=land')).errorCode, 0);
  await shake('PLAIN');
  assert.equal((await say('\0bob\0 pass word')).errorCode, 58);
  assert.equal(closing.length, 1);
});

test('a login that has ended is none, until it is made again', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { shake, say, isStranger } = await connect({ maxTimeBeforeReauth: '1m' });
  await shake('PLAIN');
  await say('\0alice\0wonder=land');
  now = 59_999;
  assert.equal(isStranger(), false);
  now = 60_001;
  assert.equal(isStranger(), true);
  await shake('PLAIN');
  await say('\0alice\0wonder=land');
  assert.equal(isStranger(), false);
});

test('the proxy logs in to the broker before the client hears that it is in, as whoever the client is there', async () => {
  const sent: string[] = [];
  const ask: Ask = async (api, _version, { mechanism, authBytes }) => {
    sent.push(`${api} ${mechanism ?? authBytes!.toString().replaceAll('\0', '|')}`);
    return { errorCode: 0, authBytes: Buffer.alloc(0), sessionLifetimeMs: 30_000n };
  };
  const alice = await connect({ broker: BROKER, maxTimeBeforeReauth: '1m' }, ask);
  await alice.shake('PLAIN');
  assert.deepEqual(sent, []);
  assert.equal((await alice.say('\0alice\0wonder=land')).sessionLifetimeMs, 30_000n);
  const bob = await connect({ broker: BROKER }, ask);
  await bob.shake('PLAIN');
  await bob.say('\0bob\0wrong');
  await bob.shake('PLAIN');
  await bob.say('\0bob\0 pass word');
  const hello = 'SaslHandshake PLAIN';
  const both = ['SaslAuthenticate |alice-there|alice-canary', 'SaslAuthenticate |proxy|proxy-canary'];
  assert.deepEqual(sent, [hello, both[0], hello, both[1]]);
  // A broker that lets a login end wants another one in time; one that does not would refuse it.
  await alice.shake('PLAIN');
  await alice.say('\0alice\0wonder=land');
  assert.equal(sent.length, 6);
});

test('a broker that refuses the proxy, or only pretends to know its password, lets nobody in', async () => {
  for (const ask of [
    async (api: string) => ({ errorCode: api === 'SaslHandshake' ? 33 : 0 }),
    async (api: string) => ({ errorCode: api === 'SaslAuthenticate' ? 58 : 0, sessionLifetimeMs: 0n }),
  ] as Ask[]) {
    const { shake, say, identified, closing } = await connect({ broker: BROKER }, ask);
    await shake('PLAIN');
    const answer = await say('\0bob\0 pass word');
    assert.deepEqual([answer.errorCode, answer.errorMessage], [58, 'Authentication failed']);
    assert.deepEqual([identified.length, closing.length], [0, 1]);
  }
  const server = scramServer('SCRAM-SHA-512', () => 'proxy-canary').start();
  let rounds = 0;
  const liar: Ask = async (api, _version, { authBytes }) => {
    if (api === 'SaslHandshake') return { errorCode: 0 };
    const text = ++rounds === 1 ? (await server.first(authBytes!.toString()))! : 'v=AAAA';
    return { errorCode: 0, authBytes: Buffer.from(text), sessionLifetimeMs: 0n };
  };
  const { shake, say } = await connect({ broker: { ...BROKER, mechanism: 'SCRAM-SHA-512' } }, liar);
  await shake('PLAIN');
  assert.equal((await say('\0bob\0 pass word')).errorCode, 58);
  const onlyUsers = { mechanism: BROKER.mechanism, users: BROKER.users };
  const nobody = await connect({ broker: onlyUsers }, async () => assert.fail('nobody to log in as'));
  await nobody.shake('PLAIN');
  assert.equal((await nobody.say('\0bob\0 pass word')).errorCode, 58);
});

suite('a client certificate as a login', () => {
  const CERTIFICATES = { mechanisms: [], users: undefined, clientCertificates: true };
  const OWN = {
    mechanism: 'PLAIN',
    users: [{ principal: 'CN=alice', username: 'alice-there', password: 'alice-canary' }],
  };
  const broker = (sent: string[], lifetimeMs = 0n): Ask => {
    return async (api, _version, { authBytes }) => {
      sent.push(`${api} ${authBytes?.toString().replaceAll('\0', '|') ?? ''}`);
      return { errorCode: 0, authBytes: Buffer.alloc(0), sessionLifetimeMs: lifetimeMs };
    };
  };
  const alice = { principal: 'CN=alice' };

  test('becomes the login of its own user at the broker, before anything else', async () => {
    const sent: string[] = [];
    const site = await connect({ ...CERTIFICATES, broker: OWN }, broker(sent), alice);
    assert.equal(site.isStranger(), true);
    assert.equal(await site.begin(), undefined);
    assert.equal(site.isStranger(), false);
    assert.deepEqual(sent, ['SaslHandshake ', 'SaslAuthenticate |alice-there|alice-canary']);
  });

  test('of somebody who has no user there, or none at all, lets nobody in', async () => {
    const ask: Ask = async () => assert.fail('nobody to log in as');
    const eve = await connect({ ...CERTIFICATES, broker: OWN }, ask, { principal: 'CN=eve' });
    assert.deepEqual(await eve.begin(), { close: 'the user has no identity at the broker' });
    assert.equal(eve.isStranger(), true);
    // Not even as the user for all others: that is of clients who have shown who they are.
    const nobody = await connect({ ...CERTIFICATES, broker: { ...OWN, ...BROKER } }, ask);
    assert.match(JSON.stringify(await nobody.begin()), /without a certificate/);
    assert.equal(nobody.isStranger(), true);
    assert.equal((await nobody.shake('PLAIN')).errorCode, 33);
  });

  test('counts only where that is wanted, and for who does not log in; nobody becomes somebody else', async () => {
    const off = await connect({ broker: BROKER }, broker([]), alice);
    assert.equal(off.onBegin, undefined);
    const both = { broker: BROKER, clientCertificates: true };
    const bob = await connect(both, broker([]), alice);
    await bob.shake('PLAIN');
    assert.equal((await bob.say('\0bob\0 pass word')).errorCode, 0);
    assert.deepEqual([await bob.begin(), bob.identified], [undefined, ['bob']]);
    const late = await connect(both, broker([]), alice);
    await late.begin();
    await late.shake('PLAIN');
    assert.equal((await late.say('\0bob\0 pass word')).errorCode, 58);
    assert.deepEqual(late.identified, []);
  });

  test('ends the connection in good order before the broker does, which wants another login', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const site = await connect({ ...CERTIFICATES, broker: OWN }, broker([], 10_000n), alice);
    await site.begin();
    t.mock.timers.tick(7999);
    assert.deepEqual(site.closing, []);
    t.mock.timers.tick(1);
    assert.equal(site.closing.length, 1);
    const closed = await connect({ ...CERTIFICATES, broker: OWN }, broker([], 10_000n), alice);
    await closed.begin();
    closed.close();
    t.mock.timers.tick(20_000);
    assert.deepEqual(closed.closing, []);
  });
});

test('credentials of the broker are out of reach', async () => {
  const { newestVersions } = await connect();
  assert.deepEqual(
    [newestVersions.CreateDelegationToken, newestVersions.AlterUserScramCredentials],
    [-1, -1],
  );
});

test('a configuration that means nothing is refused, and none of its secrets is quoted', () => {
  for (const wrong of [
    { users: undefined },
    { users: 'canary' },
    { users: 'a=1\na=canary' },
    { users: '=canary' },
    { mechanisms: [] },
    { mechanisms: [{ mechanism: 'PLAIN' }, { mechanism: 'PLAIN' }] },
    { mechanisms: [{ mechanism: 'GSSAPI' }] },
    { mechanisms: [{ mechanism: 'OAUTHBEARER' }] },
    { broker: { mechanism: 'PLAIN' } },
    { broker: { mechanism: 'PLAIN', username: 'canary' } },
  ]) {
    const { success, error } = saslTerminationSchema.safeParse({ ...CONFIG, ...wrong });
    assert.equal(success, false, JSON.stringify(wrong));
    assert.doesNotMatch(String(error), /canary/);
  }
});
