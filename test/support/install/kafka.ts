/** Apache Kafka's jars, from Maven Central: the broker and the command-line tools. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, requireTools, step } from './store.ts';

export const KAFKA_VERSION = '4.3.1';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** slf4j is an interface only: without a binding brokers run mute. */
const DEPENDENCIES = [
  ['org.apache.kafka', 'kafka_2.13', KAFKA_VERSION],
  ['org.apache.kafka', 'kafka-tools', KAFKA_VERSION],
  ['org.apache.logging.log4j', 'log4j-slf4j-impl', '2.25.4'],
] as const;

function pom(): string {
  const coordinates = ([group, artifact, version]: readonly [string, string, string]) =>
    `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>`;
  const dependencies = DEPENDENCIES.map((each) => `<dependency>${coordinates(each)}</dependency>`).join('\n');
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>',
    `${coordinates(['testbed', 'kafka', '1'])}<packaging>pom</packaging>`,
    `<dependencies>${dependencies}</dependencies></project>`,
  ].join('\n');
}

async function make(into: string): Promise<void> {
  await writeFile(join(into, 'pom.xml'), pom());
  const where = [`-Dmaven.repo.local=${cached('m2')}`, `-DoutputDirectory=${join(into, 'libs')}`];
  await step('mvn', ['-B', '-q', COPY, '-DincludeScope=runtime', ...where], { cwd: into });
}

/** The jars of Kafka as a class path. */
export async function ensureKafka(): Promise<string> {
  requireTools({ java: 'install a Java runtime, 17 or newer, e.g. `apt-get install default-jdk-headless`' });
  const home = await install({
    name: `kafka-${KAFKA_VERSION}`,
    files: ['libs'],
    doing: `fetching Apache Kafka ${KAFKA_VERSION} (about 1 min, once)`,
    tools: { mvn: 'install Maven, e.g. `apt-get install maven`' },
    make,
  });
  const libs = join(home, 'libs');
  // Spelled out and sorted: a wildcard's order is the directory's, and a class data archive is good for one order only.
  const jars = (await readdir(libs)).filter((name) => name.endsWith('.jar')).toSorted();
  return jars.map((jar) => join(libs, jar)).join(':');
}
