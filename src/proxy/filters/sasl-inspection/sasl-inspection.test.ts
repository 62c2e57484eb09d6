import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  aboutMessage,
  receivedRequest,
  receivedResponse,
  versionsOf,
} from '../../../../test/support/kafka/received.ts';
import { MECHANISMS, userIn } from '../../../kafka/sasl.ts';
import type { Mechanism } from '../../../kafka/sasl.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { saslInspection } from './sasl-inspection.ts';

type Handler = (message: object, context: MessageContext) => unknown;

type Login = 'SaslHandshake' | 'SaslAuthenticate';

/** The versions of the messages of a login. */
type Versions = Record<Login, number>;
const NEWEST: Versions = { SaslHandshake: 1, SaslAuthenticate: 2 };

async function setUp(config: object = {}, versions = NEWEST) {
  const identified: string[] = [];
  const filter = await saslInspection.create(saslInspection.config.parse(config), {} as FilterSetting);
  const context = { identify: (user: string) => void identified.push(user) };
  const { onRequest, onResponse, isStranger } = filter.connect(context as unknown as ConnectionContext);
  const request = (api: Login, body: object) =>
    (onRequest![api] as Handler)(receivedRequest(api, versions[api], body), aboutMessage(api, versions[api]));
  const response = (api: Login, body: object) =>
    (onResponse![api] as Handler)(
      receivedResponse(api, versions[api], body),
      aboutMessage(api, versions[api]),
    );
  const shake = (mechanism: string) => {
    const verdict = request('SaslHandshake', { mechanism });
    if (verdict === undefined)
      response('SaslHandshake', { errorCode: 0, mechanisms: [...MECHANISMS, 'GSSAPI'] });
    return verdict;
  };
  const say = (text: string, errorCode = 0) =>
    request('SaslAuthenticate', { authBytes: Buffer.from(text) }) ??
    response('SaslAuthenticate', { errorCode });
  return { identified, request, response, shake, say, isStranger: isStranger! };
}

const token = (claims: unknown) =>
  `n,,\u0001auth=Bearer x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y\u0001\u0001`;
const ALL = { enabledMechanisms: [...MECHANISMS] };

test('the user is known when the broker has accepted the login, and not before', async () => {
  const { identified, shake, say } = await setUp(ALL);
  shake('PLAIN');
  say('\0alice\0password', 58);
  assert.deepEqual(identified, []);
  shake('PLAIN');
  say('\0alice\0right');
  assert.deepEqual(identified, ['alice']);
  const scram = await setUp();
  scram.shake('SCRAM-SHA-512');
  scram.say('n,,n=bob=2Cjunior=3D1,r=nonce');
  assert.deepEqual(scram.identified, []);
  scram.say('c=biws,r=nonce,p=proof');
  assert.deepEqual(scram.identified, ['bob,junior=1']);
  const bearer = await setUp();
  bearer.shake('OAUTHBEARER');
  bearer.say(token({ sub: 'carol' }));
  assert.deepEqual(bearer.identified, ['carol']);
});

test('a login is seen in every version of its messages', async () => {
  for (const SaslHandshake of versionsOf('SaslHandshake'))
    for (const SaslAuthenticate of versionsOf('SaslAuthenticate')) {
      const { identified, shake, say, isStranger } = await setUp(
        { ...ALL, requireAuthentication: true },
        { SaslHandshake, SaslAuthenticate },
      );
      shake('PLAIN');
      say('\0alice\0wrong', 58);
      assert.deepEqual([identified, isStranger()], [[], true]);
      shake('SCRAM-SHA-256');
      say('n,,n=bob,r=nonce');
      say('c=biws,r=nonce,p=proof');
      assert.deepEqual([identified, isStranger()], [['bob'], false]);
    }
});

test('a mechanism that is not enabled is refused here, with those that are', async () => {
  const { shake, response } = await setUp();
  const mechanisms = ['SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'];
  assert.deepEqual(shake('PLAIN'), { respond: { errorCode: 33, mechanisms } });
  assert.deepEqual(shake('GSSAPI'), { respond: { errorCode: 33, mechanisms } });
  const { forward } = response('SaslHandshake', {
    errorCode: 33,
    mechanisms: ['GSSAPI', 'SCRAM-SHA-256'],
  }) as { forward: { mechanisms: string[] } };
  assert.deepEqual(forward.mechanisms, ['SCRAM-SHA-256']);
});

test('a login of which nobody can say whose it is closes the connection when it succeeds', async () => {
  for (const [mechanism, ...messages] of [
    ['PLAIN', 'no separators'],
    ['PLAIN', 'admin\0alice\0password'],
    ['SCRAM-SHA-256', 'n,a=admin,n=alice,r=x', 'c=biws'],
    ['SCRAM-SHA-256', 'p=tls-unique,,n=alice,r=x', 'c=biws'],
    ['OAUTHBEARER', token({ sub: 7 })],
    ['OAUTHBEARER', 'n,,\u0001auth=Bearer opaque\u0001\u0001'],
  ] as const) {
    const { identified, shake, say } = await setUp(ALL);
    shake(mechanism);
    const verdicts = messages.map((message) => say(message));
    assert.match(JSON.stringify(verdicts.at(-1)), /cannot be seen as whom/, mechanism);
    assert.deepEqual(identified, []);
  }
});

test('nobody becomes somebody else, and a login begins with its mechanism', async () => {
  const { shake, say, request } = await setUp(ALL);
  assert.match(
    JSON.stringify(request('SaslAuthenticate', { authBytes: Buffer.alloc(0) })),
    /without its mechanism/,
  );
  shake('PLAIN');
  say('\0alice\0password');
  shake('PLAIN');
  assert.equal(say('\0alice\0password'), undefined);
  shake('PLAIN');
  assert.match(JSON.stringify(say('\0bob\0password')), /somebody else/);
});

test('nobody gets a name by sending it along with a login that is accepted', async () => {
  const { identified, shake, request, response } = await setUp(ALL);
  shake('PLAIN');
  const send = (text: string) => request('SaslAuthenticate', { authBytes: Buffer.from(text) });
  assert.equal(send('\0mallory\0right'), undefined);
  const refused = { close: 'a message of a login before the last one was answered' };
  assert.deepEqual(send('\0alice\0guess'), refused);
  assert.deepEqual(request('SaslHandshake', { mechanism: 'PLAIN' }), refused);
  response('SaslAuthenticate', { errorCode: 0 });
  assert.deepEqual(identified, ['mallory']);
});

test('where a login is required a client is a stranger before it', async () => {
  const open = await setUp();
  const strict = await setUp({ ...ALL, requireAuthentication: true });
  assert.deepEqual([open.isStranger(), strict.isStranger()], [false, true]);
  strict.shake('PLAIN');
  strict.say('\0alice\0wrong', 58);
  assert.equal(strict.isStranger(), true);
  strict.shake('PLAIN');
  strict.say('\0alice\0password');
  assert.equal(strict.isStranger(), false);
});

test('whatever a client sends, a user is found or not, and nothing throws', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MECHANISMS),
      fc.uint8Array({ maxLength: 200 }),
      (mechanism: Mechanism, bytes) => {
        const user = userIn(mechanism, Buffer.from(bytes));
        assert.ok(user === undefined || user.length > 0);
      },
    ),
    { numRuns: 500 },
  );
  assert.equal(userIn('PLAIN', Buffer.from(`\0${'a'.repeat(2000)}\0p`)), undefined);
  assert.equal(userIn('PLAIN', Buffer.alloc(100_000)), undefined);
});
