import assert from 'node:assert/strict';
import { test } from 'node:test';
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

async function connect(config: object = {}, ask: Ask = async () => ({})) {
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
    ask,
  };
  const { onRequest, isStranger, newestVersions } = filter.connect(context as unknown as ConnectionContext);
  const shake = async (mechanism: string) =>
    (await (onRequest!.SaslHandshake as Handler)({ mechanism }, {} as never)).respond;
  const say = async (text: string) =>
    (await (onRequest!.SaslAuthenticate as Handler)({ authBytes: Buffer.from(text) }, {} as never)).respond;
  return {
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
