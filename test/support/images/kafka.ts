/**
 * An image of plain Apache Kafka, laid out like the project's own `apache/kafka`: /opt/kafka with bin, libs and config,
 * Java in /opt/java/openjdk, user 1000. Not their image: the jars are the published ones, the scripts in bin are ours
 * (the jars bring none), the shell is busybox, and there is no start script that reads KAFKA_ variables.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Image } from '../../../deploy/image/image.ts';
import type { Content } from '../../../deploy/image/tree.ts';
import { KAFKA_VERSION, ensureKafkaJars } from '../install/kafka.ts';
import { ensureNodeTools } from '../install/node-tools.ts';
import { install, step } from '../../../src/store/embedded/cache.ts';
import { busyboxContents } from './small.ts';

const REPOSITORY = 'docker.io/apache/kafka';
export const KAFKA_IMAGE = `${REPOSITORY}:${KAFKA_VERSION}`;

const JAVA_HOME = '/opt/java/openjdk';
const KAFKA_HOME = '/opt/kafka';

/** What brokers and tools load; a whole JDK is four times as large. */
const JAVA_MODULES = [
  'java.desktop', // log4j listens to its own configuration with java.beans
  'java.logging',
  'java.management.rmi',
  'java.naming',
  'java.net.http',
  'java.security.jgss',
  'java.sql',
  'jdk.crypto.ec',
  'jdk.httpserver', // where the metrics reporter answers
  'jdk.jcmd',
  'jdk.management.agent',
  'jdk.naming.dns',
  'jdk.security.auth',
  'jdk.security.jgss',
  'jdk.unsupported',
  'jdk.zipfs',
];

/** The scripts of bin and the class each runs. */
const SCRIPTS: Record<string, string> = {
  'kafka-storage': 'kafka.tools.StorageTool',
  'kafka-configs': 'kafka.admin.ConfigCommand',
  'kafka-topics': 'org.apache.kafka.tools.TopicCommand',
  'kafka-console-producer': 'org.apache.kafka.tools.ConsoleProducer',
  'kafka-console-consumer': 'org.apache.kafka.tools.consumer.ConsoleConsumer',
  'kafka-producer-perf-test': 'org.apache.kafka.tools.ProducerPerformance',
  'kafka-consumer-perf-test': 'org.apache.kafka.tools.ConsumerPerformance',
  'kafka-verifiable-producer': 'org.apache.kafka.tools.VerifiableProducer',
  'kafka-verifiable-consumer': 'org.apache.kafka.tools.VerifiableConsumer',
  'kafka-consumer-groups': 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
  'kafka-acls': 'org.apache.kafka.tools.AclCommand',
  'kafka-broker-api-versions': 'org.apache.kafka.tools.BrokerApiVersionsCommand',
  'kafka-metadata-quorum': 'org.apache.kafka.tools.MetadataQuorumCommand',
  'kafka-reassign-partitions': 'org.apache.kafka.tools.reassign.ReassignPartitionsCommand',
  'kafka-get-offsets': 'org.apache.kafka.tools.GetOffsetShell',
  'kafka-features': 'org.apache.kafka.tools.FeatureCommand',
  'kafka-cluster': 'org.apache.kafka.tools.ClusterTool',
  'kafka-leader-election': 'org.apache.kafka.tools.LeaderElectionCommand',
};

/** The variables are those that the project's own script reads. */
const RUN_CLASS = `#!/bin/sh
home=$(dirname "$0")/..
exec "\${JAVA_HOME:-${JAVA_HOME}}/bin/java" \${KAFKA_HEAP_OPTS:--Xmx256m} \\
  \${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC -XX:TieredStopAtLevel=1} $KAFKA_JMX_OPTS \\
  \${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$home/config/tools-log4j2.yaml} \\
  -cp "$home/libs/*" $KAFKA_OPTS "$@"
`;

/** Servers log to their output; tools answer there, so that their log goes elsewhere. */
const log4j = (level: string, target: string) => `Configuration:
  Appenders:
    Console: { name: CONSOLE, target: ${target}, PatternLayout: { pattern: "[%d] %p %m (%c)%n" } }
  Loggers:
    Root: { level: ${level}, AppenderRef: [{ ref: CONSOLE }] }
`;

const START = `#!/bin/sh
home=$(dirname "$0")/..
export KAFKA_LOG4J_OPTS="\${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$home/config/log4j2.yaml}"
exec "$home/bin/kafka-run-class.sh" kafka.Kafka "$@"
`;

/** Native parts of java.desktop, which would want the libraries of a desktop. */
const DESKTOP = /^lib(awt.*|fontmanager|javajpeg|jawt|jsound|lcms|mlib_image|splashscreen)\.so$/;

async function makeJava(into: string): Promise<void> {
  const small = ['--strip-debug', '--no-header-files', '--no-man-pages', '--generate-cds-archive'];
  await step('jlink', ['--add-modules', JAVA_MODULES.join(','), ...small, '--output', into]);
  const unwanted = readdirSync(join(into, 'lib')).filter((name) => DESKTOP.test(name));
  for (const name of unwanted) await rm(join(into, 'lib', name));
}

const hashOf = (names: readonly string[]) =>
  createHash('sha256').update(names.join()).digest('hex').slice(0, 8);

async function ensureJava(): Promise<string> {
  const home = await install({
    name: `jre-kafka-${KAFKA_VERSION}-${hashOf(JAVA_MODULES)}`,
    files: ['jre'],
    doing: 'making a small Java runtime (about 20 s, once)',
    tools: { jlink: 'install a JDK, 17 or newer, e.g. `apt-get install openjdk-17-jdk-headless`' },
    make: (into) => makeJava(join(into, 'jre')),
  });
  return join(home, 'jre');
}

function scripts(): Content[] {
  const script = (name: string, text: string) => ({
    text,
    to: `${KAFKA_HOME}/bin/${name}.sh`,
    mode: 0o755,
  });
  return [
    script('kafka-run-class', RUN_CLASS),
    script('kafka-server-start', START),
    ...Object.entries(SCRIPTS).map(([name, main]) =>
      script(name, `#!/bin/sh\nexec "$(dirname "$0")/kafka-run-class.sh" ${main} "$@"\n`),
    ),
  ];
}

/** The image of a version, once its parts are fetched. */
export async function kafkaImage(version: string = KAFKA_VERSION): Promise<Image> {
  const jre = await ensureJava();
  const libs = await ensureKafkaJars(version);
  const jars = readdirSync(libs).filter((name) => name.endsWith('.jar'));
  return {
    name: `${REPOSITORY}:${version}`,
    contents: [
      ...busyboxContents((await ensureNodeTools()).busybox),
      { copy: jre, to: JAVA_HOME, except: /\/legal$/ },
      { librariesOf: jre },
      { librariesOf: dirname(process.execPath) }, // libstdc++, for the codecs that jars unpack
      ...jars.map((jar) => ({ copy: join(libs, jar), to: `${KAFKA_HOME}/libs/${jar}` })),
      ...scripts(),
      { text: log4j('INFO', 'SYSTEM_OUT'), to: `${KAFKA_HOME}/config/log4j2.yaml` },
      { text: log4j('WARN', 'SYSTEM_ERR'), to: `${KAFKA_HOME}/config/tools-log4j2.yaml` },
      { text: 'root:x:0:0::/:/bin/sh\nappuser:x:1000:1000::/home/appuser:/bin/sh\n', to: '/etc/passwd' },
      { text: 'root:x:0:\nappuser:x:1000:\n', to: '/etc/group' },
      { directory: '/var/lib/kafka/data', mode: 0o777 },
      { directory: `${KAFKA_HOME}/logs`, mode: 0o777 },
    ],
    entrypoint: [],
    command: ['/bin/sh'],
    environment: { JAVA_HOME, PATH: `${JAVA_HOME}/bin:${KAFKA_HOME}/bin:/bin` },
    user: '1000:1000',
    workdir: KAFKA_HOME,
  };
}
