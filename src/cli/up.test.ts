import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { describe } from './up.ts';

const listing = (virtualCluster: string, port: number, filters: string[] = []) => ({
  virtualCluster,
  ingress: 'local',
  bootstrap: `127.0.0.1:${port}`,
  protocol: 'TCP' as const,
  filters,
});

suite('what isthmus up prints', () => {
  const listings = [listing('plain', 9082), listing('encrypted', 9090, ['encryption'])];

  test('lines to try for every virtual cluster, and what the broker has of the encrypted one', () => {
    const kafka = { bootstrap: '127.0.0.1:1', libs: '/libs' };
    const text = describe({ listings, problems: [], held: [], kafka }, 'shop');
    const lines = text.slice(text.indexOf('To try it')).split('\n');
    const tool = (name: string, at: string, topic: string) =>
      `java -cp '/libs/*' org.apache.kafka.tools.${name} --bootstrap-server 127.0.0.1:${at} --topic ${topic}`;
    const consumer = (at: string, topic: string) =>
      `  ${tool('consumer.ConsoleConsumer', at, topic)} --from-beginning --max-messages 1`;
    assert.deepEqual(lines.slice(1), [
      '  # plain',
      `  echo hello | ${tool('ConsoleProducer', '9082', 'hello-plain')}`,
      consumer('9082', 'hello-plain'),
      '  # encrypted',
      `  echo hello | ${tool('ConsoleProducer', '9090', 'hello-encrypted')}`,
      consumer('9090', 'hello-encrypted'),
      '  # the same as the broker has it',
      consumer('1', 'hello-encrypted'),
      '',
    ]);
  });

  test('kcat, where the Kafka is somebody’s own', () => {
    const text = describe(
      { listings, problems: [], held: [], kafka: { bootstrap: 'kafka.example:9092' } },
      'shop',
    );
    assert.match(text, /^ {2}echo hello \| kcat -b 127\.0\.0\.1:9082 -t hello-plain -P$/m);
    assert.match(text, /^ {2}kcat -b kafka\.example:9092 -t hello-encrypted -C -o beginning -e$/m);
  });

  test('by TLS, whom the tools trust, and what else has to be there', () => {
    const tls = (virtualCluster: string, bootstrap: string) => ({
      ...listing(virtualCluster, 1),
      bootstrap,
      protocol: 'TLS' as const,
    });
    const listings = [tls('near', 'localhost:9082'), tls('named', 'named.example:443')];
    const text = (libs?: string) =>
      describe(
        { listings, problems: [], held: [], kafka: { bootstrap: '127.0.0.1:1', ...(libs && { libs }) } },
        'shop',
      );
    const trust =
      "--command-property security.protocol=SSL --command-property ssl.truststore.type=PEM --command-property 'ssl.truststore.location=shop/ca.crt'";
    assert.ok(
      text('/libs').includes(
        `ConsoleConsumer --bootstrap-server localhost:9082 --topic hello-near ${trust} --from-beginning`,
      ),
    );
    assert.match(text('/libs'), /# near, by TLS: shop\/ca\.crt has to be the authority of its certificate\n/);
    assert.match(text('/libs'), /# named, by TLS: .* and its names have to lead to this machine\n/);
    assert.match(
      text(),
      /kcat -b localhost:9082 -X security\.protocol=ssl -X 'ssl\.ca\.location=shop\/ca\.crt' -t hello-near -P/,
    );
  });

  test('what goes on as it was last good, since when, and that the rest is the newest', () => {
    const one = { namespace: 'default', sinceMs: Date.UTC(2026, 4, 3, 2, 1, 0) };
    const held = [
      { kind: 'VirtualKafkaCluster', name: 'encrypted', ...one },
      { kind: 'Secret', name: 'keys', ...one },
    ];
    const lines = describe({ listings, problems: [], held, kafka: undefined }, 'shop')
      .split('\n')
      .slice(1, 6);
    assert.deepEqual(lines, [
      'VirtualKafkaCluster "encrypted" is served as it was last good, since 2026-05-03 02:01:00 UTC',
      'Secret "keys" is used as it was last good, since 2026-05-03 02:01:00 UTC',
      'VIRTUAL CLUSTER   BOOTSTRAP        PROTOCOL   FILTERS      STATE',
      'plain             127.0.0.1:9082   TCP        -            newest',
      'encrypted         127.0.0.1:9090   TCP        encryption   last good',
    ]);
  });
});
