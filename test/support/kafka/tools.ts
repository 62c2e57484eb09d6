/** Kafka's command-line tools by the names everyone knows, and the classes behind them. */
import { ensureKafka } from '../install/kafka.ts';
import { run, startServer } from '../../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../../src/store/embedded/process.ts';
import { workspace } from '../workspace.ts';
import { toolJava } from '../../../src/store/embedded/kafka-java.ts';

const TOOLS = 'org.apache.kafka.tools';

const CLASSES = {
  'kafka-acls': `${TOOLS}.AclCommand`,
  'kafka-broker-api-versions': `${TOOLS}.BrokerApiVersionsCommand`,
  'kafka-client-metrics': `${TOOLS}.ClientMetricsCommand`,
  'kafka-cluster': `${TOOLS}.ClusterTool`,
  'kafka-configs': 'kafka.admin.ConfigCommand',
  'kafka-console-consumer': `${TOOLS}.consumer.ConsoleConsumer`,
  'kafka-console-producer': `${TOOLS}.ConsoleProducer`,
  'kafka-console-share-consumer': `${TOOLS}.consumer.ConsoleShareConsumer`,
  'kafka-consumer-groups': `${TOOLS}.consumer.group.ConsumerGroupCommand`,
  'kafka-consumer-perf-test': `${TOOLS}.ConsumerPerformance`,
  'kafka-delegation-tokens': `${TOOLS}.DelegationTokenCommand`,
  'kafka-delete-records': `${TOOLS}.DeleteRecordsCommand`,
  'kafka-dump-log': `${TOOLS}.DumpLogSegments`,
  'kafka-e2e-latency': `${TOOLS}.EndToEndLatency`,
  'kafka-features': `${TOOLS}.FeatureCommand`,
  'kafka-get-offsets': `${TOOLS}.GetOffsetShell`,
  'kafka-groups': `${TOOLS}.GroupsCommand`,
  'kafka-leader-election': `${TOOLS}.LeaderElectionCommand`,
  'kafka-log-dirs': `${TOOLS}.LogDirsCommand`,
  'kafka-metadata-quorum': `${TOOLS}.MetadataQuorumCommand`,
  'kafka-producer-perf-test': `${TOOLS}.ProducerPerformance`,
  'kafka-reassign-partitions': `${TOOLS}.reassign.ReassignPartitionsCommand`,
  'kafka-share-consumer-perf-test': `${TOOLS}.ShareConsumerPerformance`,
  'kafka-share-groups': `${TOOLS}.consumer.group.ShareGroupCommand`,
  'kafka-storage': 'kafka.tools.StorageTool',
  'kafka-streams-groups': `${TOOLS}.streams.StreamsGroupCommand`,
  'kafka-topics': `${TOOLS}.TopicCommand`,
  'kafka-transactions': `${TOOLS}.TransactionsCommand`,
  'kafka-verifiable-consumer': `${TOOLS}.VerifiableConsumer`,
  'kafka-verifiable-producer': `${TOOLS}.VerifiableProducer`,
  'kafka-verifiable-share-consumer': `${TOOLS}.VerifiableShareConsumer`,
} as const;

export type KafkaTool = keyof typeof CLASSES;

export interface ToolOptions {
  stdin?: string | undefined;
  timeoutMs?: number;
  /** Names that this machine's resolver does not know. */
  hostsFile?: string | undefined;
}

let directory: string | undefined;

async function javaFor(name: KafkaTool, hostsFile: string | undefined): Promise<string[]> {
  const kafka = await ensureKafka();
  directory ??= workspace('kafka-tools');
  const names = hostsFile === undefined ? [] : [`-Djdk.net.hosts.file=${hostsFile}`];
  return [...names, ...toolJava(kafka, directory, CLASSES[name])];
}

/** The command line of a tool, for whoever runs it elsewhere. */
export async function kafkaToolCommand(name: KafkaTool, args: readonly string[]): Promise<string[]> {
  return ['java', ...(await javaFor(name, undefined)), ...args];
}

/** Runs a tool to its end. Its arguments are its own: nothing is added, not even a bootstrap server. */
export async function kafkaTool(
  name: KafkaTool,
  args: readonly string[],
  { stdin, timeoutMs = 120_000, hostsFile }: ToolOptions = {},
): Promise<Finished> {
  return run('java', [...(await javaFor(name, hostsFile)), ...args], { stdin, timeoutMs });
}

/** Starts a tool that goes on until it is stopped; what it prints goes to the file. */
export async function startKafkaTool(
  name: KafkaTool,
  args: readonly string[],
  { logFile, hostsFile }: { logFile: string; hostsFile?: string },
): Promise<Server> {
  return startServer(name, 'java', [...(await javaFor(name, hostsFile)), ...args], { logFile });
}
