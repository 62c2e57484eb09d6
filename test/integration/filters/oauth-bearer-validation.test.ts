/** Tokens on their way to a real Kafka that checks them itself, with a real issuer: the example, with its addresses put in. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { pino } from 'pino';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { startIssuer } from '../../support/oidc.ts';
import type { Issuer } from '../../support/oidc.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

const HANDLER = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler';
const MODULE = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;';

describe('tokens on their way to the broker', { timeout: 600_000 }, () => {
  let issuer: Issuer;
  let kafka: KafkaCluster;
  let proxy: Running;
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  before(async () => {
    issuer = await startIssuer(['dave']);
    // Kafka asks nobody for keys whom it was not told of so.
    const allowed = `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${issuer.jwksUrl}`;
    process.env['JAVA_TOOL_OPTIONS'] = allowed;
    const prefix = 'listener.name.sasl_plaintext';
    kafka = await startKafka({
      properties: {
        [`${prefix}.sasl.enabled.mechanisms`]: 'OAUTHBEARER',
        [`${prefix}.oauthbearer.sasl.jaas.config`]: MODULE,
        [`${prefix}.oauthbearer.sasl.server.callback.handler.class`]: HANDLER,
        [`${prefix}.sasl.oauthbearer.jwks.endpoint.url`]: issuer.jwksUrl,
        [`${prefix}.sasl.oauthbearer.expected.audience`]: issuer.audience,
        [`${prefix}.sasl.oauthbearer.expected.issuer`]: issuer.issuer,
      },
    });
    await kafka.createTopic('orders');
    proxy = await startExample('oauth-bearer-validation', kafka.bootstrap.saslPlaintext, {
      config: { jwksEndpointUrl: issuer.jwksUrl, expectedIssuer: issuer.issuer },
      log,
    });
  });
  after(async () => {
    delete process.env['JAVA_TOOL_OPTIONS'];
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await issuer?.[Symbol.asyncDispose]();
  });

  const topicsWith = async (value: string) => {
    const admin = new Kafka({
      ...PATIENT_KAFKAJS,
      retry: { retries: 0 },
      brokers: [proxy.bootstrap['demo']!],
      sasl: { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value }) },
    }).admin();
    try {
      await admin.connect();
      return await admin.listTopics();
    } finally {
      await admin.disconnect();
    }
  };
  const refused = () => lines.filter((line) => line.includes('token refused')).length;

  it('are let through where they are valid, and the broker takes them; others do not get to it', async () => {
    const token = await issuer.tokenOf('dave');
    assert.ok((await topicsWith(token)).includes('orders'));
    assert.equal(refused(), 0);
    const [header, claims, signature] = token.split('.');
    const forged = Buffer.from(claims!, 'base64url').toString().replace('dave', 'root');
    await assert.rejects(
      topicsWith(`${header}.${Buffer.from(forged).toString('base64url')}.${signature}`),
      /Authentication failed/,
    );
    assert.equal(refused(), 1);
    assert.ok(!lines.join('').includes(signature!));
  });
});
