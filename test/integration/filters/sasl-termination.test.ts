/** Logins at the proxy, by the example, with clients of others; the real Kafka behind it takes the proxy's own login alone. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { pino } from 'pino';
import { connectKafka } from '../../../src/kafka/client.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE, BOB } from '../../support/kafka/security.ts';
import type { Credentials } from '../../support/kafka/security.ts';
import { startIssuer } from '../../support/oidc.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

const PATIENT = { connectTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
const addressOf = (bootstrap: string) => {
  const [host = '', port = ''] = bootstrap.split(':');
  return { host, port: Number(port), ...PATIENT };
};

describe('logins at the proxy', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Running;
  let bootstrap: string;
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  before(async () => {
    kafka = await startKafka();
    await kafka.createTopic('orders');
    proxy = await startExample('sasl-termination', kafka.bootstrap.saslPlaintext, { log });
    bootstrap = proxy.bootstrap['demo']!;
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const user = (mechanism: Credentials['mechanism'], username: string, password: string) => ({
    sasl: { mechanism, username, password },
  });

  it('are taken of clients of all kinds, by each mechanism, of users that Kafka does not know', async () => {
    const all = [
      ['java', user('SCRAM-SHA-512', 'carol', 'a=b c')],
      ['kafkajs', user('SCRAM-SHA-256', 'alice', 'wonderland')],
      ['confluent', user('SCRAM-SHA-512', 'alice', 'wonderland')],
      ['kcat', user('PLAIN', 'alice', 'wonderland')],
    ] as const;
    for (const [client, security] of all)
      await produce(client, {
        bootstrap,
        topic: 'orders',
        security,
        records: [{ key: 'by', value: client }],
      });
    const records = await consume('java', {
      bootstrap,
      topic: 'orders',
      security: all[0][1],
      count: all.length,
    });
    assert.deepEqual(new Set(records.map(({ value }) => value)), new Set(all.map(([client]) => client)));
  });

  it('with a wrong password, of nobody, or as whom Kafka knows are refused, and nothing is served before one', async () => {
    for (const sasl of [
      { ...ALICE, password: 'wrong' },
      { ...BOB, username: 'eve' },
      ALICE, // right at the broker
      BOB,
    ])
      await assert.rejects(connectKafka({ ...addressOf(bootstrap), sasl }), /Authentication failed/);
    const stranger = await connectKafka(addressOf(bootstrap));
    await assert.rejects(stranger.metadata([]));
    const text = lines.join('');
    for (const secret of [BOB.password, ALICE.password, 'wonderland']) assert.ok(!text.includes(secret));
  });

  it('become logins of users of their own at the broker, where they have one there', async () => {
    const { username, password } = ALICE;
    const broker = (there: string) => ({
      mechanism: ALICE.mechanism,
      users: [{ principal: 'alice', username, password: there }],
    });
    const sasl = { mechanism: 'PLAIN', username: 'alice', password: 'wonderland' } as const;
    const upstream = kafka.bootstrap.saslPlaintext;
    await using own = await startExample('sasl-termination', upstream, {
      config: { broker: broker(password) },
    });
    const client = await connectKafka({ ...addressOf(own.bootstrap['demo']!), sasl });
    assert.equal((await client.metadata(['orders'])).topics[0]!.errorCode, 0);
    client.close();
    const carol = { ...sasl, username: 'carol', password: 'a=b c' };
    await assert.rejects(
      connectKafka({ ...addressOf(own.bootstrap['demo']!), sasl: carol }),
      /Authentication failed/,
    );
    await using wrong = await startExample('sasl-termination', upstream, {
      config: { broker: broker('no') },
    });
    await assert.rejects(
      connectKafka({ ...addressOf(wrong.bootstrap['demo']!), sasl }),
      /Authentication failed/,
    );
  });

  it('by certificates are those of users of their own at the broker, for who has one there', async () => {
    const { server, client, authority } = kafka.tls;
    const other = await authority.issue({ commonName: 'eve' });
    const { username, password, mechanism } = ALICE;
    const subject = new X509Certificate(client.certPem).subject.replaceAll('\n', ',');
    await using own = await startExample('sasl-termination', kafka.bootstrap.saslPlaintext, {
      config: {
        mechanisms: [],
        users: undefined,
        clientCertificates: true,
        broker: { mechanism, users: [{ principal: subject, username, password }] },
      },
      tls: {
        key: { certificate: server.certPem, privateKey: server.keyPem },
        trust: { certificates: authority.certPem, trustOptions: { clientAuth: 'REQUESTED' } },
      },
    });
    const address = own.bootstrap['demo']!;
    const connect = (shown?: { certPem: string; keyPem: string }) =>
      connectKafka({
        ...addressOf(address),
        tls: { ca: authority.certPem, ...(shown && { cert: shown.certPem, key: shown.keyPem }) },
      });
    const security = kafka.security.mtls;
    for (const by of ['java', 'kafkajs', 'confluent', 'platformatic'] as const)
      await produce(by, {
        bootstrap: address,
        topic: 'orders',
        security,
        records: [{ key: 'by', value: by }],
      });
    // Before its first request anybody may ask which versions there are.
    for (const stranger of [other, undefined]) {
      const asking = await connect(stranger);
      await assert.rejects(asking.metadata(['orders']));
    }
  });

  it('by tokens are taken of those that the issuer has signed, for this audience', async () => {
    await using issuer = await startIssuer(['dave']);
    const tokens = {
      mechanism: 'OAUTHBEARER',
      jwksEndpointUrl: issuer.jwksUrl,
      expectedIssuer: issuer.issuer,
      expectedAudience: issuer.audience,
    };
    const upstream = kafka.bootstrap.saslPlaintext;
    const seen: string[] = [];
    const audited = pino({ level: 'info' }, { write: (line: string) => void seen.push(line) });
    await using open = await startExample('sasl-termination', upstream, {
      config: { mechanisms: [tokens] },
      log: audited,
    });
    const token = await issuer.tokenOf('dave');
    const connect = async (value: string, target: Running) => {
      const admin = new Kafka({
        ...PATIENT_KAFKAJS,
        retry: { retries: 0 },
        brokers: [target.bootstrap['demo']!],
        sasl: { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value }) },
      }).admin();
      try {
        await admin.connect();
        return await admin.listTopics();
      } finally {
        await admin.disconnect();
      }
    };
    assert.ok((await connect(token, open)).includes('orders'));
    const [header, claims, signature] = token.split('.');
    const forged = Buffer.from(claims!, 'base64url').toString().replace('dave', 'root');
    await assert.rejects(
      connect(`${header}.${Buffer.from(forged).toString('base64url')}.${signature}`, open),
    );
    const others = { ...tokens, expectedAudience: 'payments' };
    await using closed = await startExample('sasl-termination', upstream, {
      config: { mechanisms: [others] },
    });
    await assert.rejects(connect(token, closed));
    assert.ok(!seen.join('').includes(token));
  });
});
