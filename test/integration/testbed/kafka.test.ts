import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CLIENT_NAMES, consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import type { TestRecord } from '../../support/clients/types.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { BOB } from '../../support/kafka/security.ts';

function records(count: number, prefix: string): TestRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    key: n % 10 === 0 ? null : `k${n}`,
    value: `${prefix} ${n}`,
  }));
}

type ListenerName = keyof KafkaCluster['bootstrap'];

describe('one broker', () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka();
  });
  after(() => kafka.stop());

  /** Debian's kcat cannot do SCRAM. */
  const securityFor = (client: ClientName, listener: ListenerName) =>
    client === 'kcat' && listener === 'saslSsl'
      ? { ...kafka.security.saslSsl, sasl: BOB }
      : kafka.security[listener];

  for (const client of CLIENT_NAMES) {
    for (const listener of ['plaintext', 'ssl', 'mtls', 'saslPlaintext', 'saslSsl'] as const) {
      test(`${client} writes and reads 1,000 records through ${listener}`, async () => {
        const target = {
          bootstrap: kafka.bootstrap[listener],
          topic: `${client}-${listener}`,
          security: securityFor(client, listener),
        };
        const sent = records(1000, client);
        await kafka.createTopic(target.topic);
        await produce(client, { ...target, records: sent });
        assert.deepEqual(await consume(client, { ...target, count: 1000 }), sent);
      });
    }
  }
});
