/** What real clients say to a real broker when they do what clients do. */
import { CLIENT_NAMES, consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaTool } from '../../support/kafka/tools.ts';
import { startTap } from './tap.ts';
import type { Heard } from './tap.ts';

const RECORDS = Array.from({ length: 20 }, (_, i) => ({ key: `key-${i % 3}`, value: `value number ${i}` }));

/** Tools of the Java distribution, as many kinds of request as they make; `B` is the bootstrap server. */
const ADMIN: [KafkaTool, string][] = [
  ['kafka-topics', '--bootstrap-server B --create --topic admin --partitions 2 --replication-factor 1'],
  ['kafka-topics', '--bootstrap-server B --describe'],
  ['kafka-topics', '--bootstrap-server B --alter --topic admin --partitions 3'],
  ['kafka-configs', '--bootstrap-server B --alter --topic admin --add-config retention.ms=100000'],
  ['kafka-configs', '--bootstrap-server B --describe --topic admin --all'],
  [
    'kafka-configs',
    '--bootstrap-server B --alter --add-config producer_byte_rate=1048576 --entity-type clients --entity-name x',
  ],
  ['kafka-configs', '--bootstrap-server B --describe --entity-type users'],
  ['kafka-acls', '--bootstrap-server B --add --allow-principal User:eve --operation Read --topic admin'],
  ['kafka-acls', '--bootstrap-server B --list'],
  ['kafka-acls', '--bootstrap-server B --remove --force --topic admin'],
  ['kafka-metadata-quorum', '--bootstrap-server B describe --status'],
  ['kafka-features', '--bootstrap-server B describe'],
  ['kafka-cluster', 'list-endpoints --bootstrap-server B'],
  ['kafka-log-dirs', '--bootstrap-server B --describe'],
  ['kafka-get-offsets', '--bootstrap-server B'],
  ['kafka-consumer-groups', '--bootstrap-server B --describe --all-groups'],
  ['kafka-consumer-groups', '--bootstrap-server B --delete --group java-group'],
  ['kafka-groups', '--bootstrap-server B --list'],
  ['kafka-transactions', '--bootstrap-server B list'],
  ['kafka-transactions', '--bootstrap-server B describe-producers --topic java --partition 0'],
  ['kafka-broker-api-versions', '--bootstrap-server B'],
  ['kafka-reassign-partitions', '--bootstrap-server B --list'],
  ['kafka-leader-election', '--bootstrap-server B --election-type preferred --all-topic-partitions'],
  [
    'kafka-producer-perf-test',
    '--bootstrap-server B --topic java --num-records 20 --record-size 30 --throughput -1 --transactional-id t --transaction-duration-ms 10',
  ],
  [
    'kafka-console-consumer',
    '--bootstrap-server B --topic java --from-beginning --max-messages 20 --command-property group.protocol=consumer --command-property group.id=new',
  ],
  [
    'kafka-configs',
    '--bootstrap-server B --alter --entity-type groups --entity-name share --add-config share.auto.offset.reset=earliest',
  ],
  [
    'kafka-console-share-consumer',
    '--bootstrap-server B --topic java --max-messages 5 --timeout-ms 20000 --command-property group.id=share',
  ],
  ['kafka-share-groups', '--bootstrap-server B --describe --all-groups'],
  ['kafka-topics', '--bootstrap-server B --delete --topic admin'],
];

export interface Conversations {
  clients: readonly ClientName[];
  /** How many of the tools, from the first on. */
  tools: number;
}

export const EVERYTHING: Conversations = { clients: CLIENT_NAMES, tools: ADMIN.length };

/** Runs the clients one after the other and hands over every frame that passes. */
export async function converse(wanted: Conversations, onFrame: (heard: Heard) => void): Promise<void> {
  await using tap = await startTap(onFrame);
  await using kafka: KafkaCluster = await startKafka({
    listeners: [{ name: 'TAP', protocol: 'PLAINTEXT', advertised: () => tap.address }],
  });
  tap.target(kafka.addresses('TAP')[0]!);
  for (const client of wanted.clients) {
    tap.speaker(client);
    await kafka.createTopic(client);
    const target = { bootstrap: tap.address, topic: client };
    await produce(client, { ...target, records: RECORDS });
    await consume(client, { ...target, count: RECORDS.length, group: `${client}-group` });
  }
  tap.speaker('java-tools');
  for (const [tool, args] of ADMIN.slice(0, wanted.tools)) {
    await kafka.tool(
      tool,
      args.split(' ').map((word) => (word === 'B' ? tap.address : word)),
    );
  }
}
