/** Apache Kafka from Maven Central: the broker and the command-line tools, made ready to start quickly. */
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, requireTools, step } from './cache.ts';
import { ensureArchive } from './kafka-archive.ts';
import type { KafkaHome } from './kafka-java.ts';
import { kafkaUuid, propertiesText } from './kafka-storage.ts';

export const KAFKA_VERSION = '4.3.1';
/** The directory of a version in the cache. */
const nameOf = (version: string) => `kafka-${version}`;
const NAME = nameOf(KAFKA_VERSION);
const JAVA = { java: 'install Java 17 or newer, e.g. `apt-get install default-jdk-headless`' };
const MAVEN = { mvn: 'install Maven, e.g. `apt-get install maven`' };
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** slf4j is an interface only: without a binding brokers run mute. */
const dependenciesOf = (version: string) =>
  [
    ['org.apache.kafka', 'kafka_2.13', version],
    ['org.apache.kafka', 'kafka-tools', version],
    ['org.apache.logging.log4j', 'log4j-slf4j-impl', '2.25.4'],
  ] as const;

function coordinates([group, artifact, version]: readonly [string, string, string]): string {
  return `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>`;
}

function pom(version: string): string {
  const dependencies = dependenciesOf(version)
    .map((each) => `<dependency>${coordinates(each)}</dependency>`)
    .join('\n');
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>',
    `${coordinates(['embedded', 'kafka', '1'])}<packaging>pom</packaging>`,
    `<dependencies>${dependencies}</dependencies></project>`,
  ].join('\n');
}

/** Spelled out and sorted: a wildcard has the directory's order, and a class archive is good for one order only. */
async function classPathOf(libs: string): Promise<string> {
  const jars = (await readdir(libs)).filter((name) => name.endsWith('.jar')).toSorted();
  return jars.map((jar) => join(libs, jar)).join(':');
}

async function fetchJars(version: string, into: string): Promise<void> {
  await writeFile(join(into, 'pom.xml'), pom(version));
  const where = [`-Dmaven.repo.local=${cached('m2')}`, `-DoutputDirectory=${join(into, 'libs')}`];
  await step('mvn', ['-B', '-q', COPY, '-DincludeScope=runtime', ...where], { cwd: into });
}

/** A user that can log in with SCRAM from the first start on. */
export interface ScramUser {
  name: string;
  password: string;
}

/** Kafka's own formatter, run once for a kind of cluster: its first records, in a file that every new broker begins with. */
export async function ensureCheckpoint(
  file: string,
  classPath: string,
  users: readonly ScramUser[],
): Promise<string> {
  const home = await install({
    name: NAME,
    files: [file],
    doing: 'formatting storage for Apache Kafka (some seconds, once)',
    tools: JAVA,
    make: (into) => format(classPath, into, file, users),
  });
  return join(home, file);
}

async function format(
  classPath: string,
  into: string,
  file: string,
  users: readonly ScramUser[],
): Promise<void> {
  const data = join(into, 'data');
  const config = join(into, 'format.properties');
  const voter = { 'controller.quorum.voters': '1@127.0.0.1:9099', listeners: 'CONTROLLER://127.0.0.1:9099' };
  const role = { 'process.roles': 'controller', 'controller.listener.names': 'CONTROLLER' };
  await writeFile(config, propertiesText({ 'node.id': 1, 'log.dirs': data, ...role, ...voter }));
  const scram = users.flatMap(({ name, password }) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
  const command = ['kafka.tools.StorageTool', 'format', '-t', kafkaUuid(), '-c', config, ...scram];
  await step('java', ['-cp', classPath, ...command]);
  await rename(join(data, 'bootstrap.checkpoint'), join(into, file));
  await rm(data, { recursive: true });
  await rm(config);
}

/** The folder with the jars of a version of Apache Kafka, fetched if they are not there yet. */
export async function ensureKafkaJars(version: string = KAFKA_VERSION): Promise<string> {
  const home = await install({
    name: nameOf(version),
    files: ['libs'],
    doing: `fetching Apache Kafka ${version} (about 1 min, once)`,
    tools: MAVEN,
    make: (into) => fetchJars(version, into),
  });
  return join(home, 'libs');
}

/** Apache Kafka, fetched and made ready if it is not yet. */
export async function ensureKafka(): Promise<KafkaHome> {
  requireTools(JAVA);
  const classPath = await classPathOf(await ensureKafkaJars());
  const checkpoint = await ensureCheckpoint('plain.checkpoint', classPath, []);
  return { classPath, checkpoint, archive: await ensureArchive(NAME, { classPath, checkpoint }) };
}
