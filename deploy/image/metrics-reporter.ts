/**
 * Strimzi's metrics reporter for Kafka, which our image carries to brokers: from Maven Central, each jar by its checksum. 0.2.0 is the
 * newest whose part for servers is published there.
 */
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, step } from '../../src/store/embedded/cache.ts';

const VERSION = '0.2.0';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** SHA-256 by file. */
const JARS: Readonly<Record<string, string>> = {
  [`metrics-reporter-${VERSION}.jar`]: 'e6aa373a7a99dfc384c59ac925d52e19506a29d3c784bf1e76d8271cc30aec9c',
  'prometheus-metrics-config-1.3.6.jar': '32e6ecf39f3ab76eee94ee69102795f8ed80024d27fda0ba41d54f25ac887fad',
  'prometheus-metrics-core-1.3.6.jar': '681eb8f906dbd30e396bb69b1aeff711a652f1464e2c87b36813f895d124ac67',
  'prometheus-metrics-exporter-common-1.3.6.jar':
    'f2a2e0dcd101764cf2cceb57895c0cb1839f8eac17f6315112b7cb031db4e9a8',
  'prometheus-metrics-exporter-httpserver-1.3.6.jar':
    'b5db074b19cd439ad358eacdf6ca191eb744f8a14c9833f6c3c8db43ff463a0b',
  'prometheus-metrics-exposition-formats-1.3.6.jar':
    '527c5e21767934fa1d7fb0f4581f560254fe15fff5b86046eb3d669aec8ae000',
  'prometheus-metrics-exposition-textformats-1.3.6.jar':
    '2d9e03503c2bcd1c913f2a4f82d2ebef8b9df971c6f22de7993dfabe01d575f9',
  'prometheus-metrics-instrumentation-jvm-1.3.6.jar':
    'c063e6df55bf27c01e746bd33191b34b373b8595cc3acf9cab861e170c192508',
  'prometheus-metrics-model-1.3.6.jar': '51a8da74c037ddd5c94dd6bfc828e60b748efede0dc3fae6f188d4e0bbeadd75',
  'prometheus-metrics-tracer-common-1.3.6.jar':
    'f74e318a30aafe29c169488c4535f4170714625cb50fcfd56c2854c3c5f66f09',
  'prometheus-metrics-tracer-initializer-1.3.6.jar':
    '1d118d948670b0ee467114b6866c83d470347427134cbb201c52d8ce99806740',
  'prometheus-metrics-tracer-otel-1.3.6.jar':
    'fa4f5061549e1c5b1ae362160ee0ebb7d87dc86fef8bbd179e5aa0754c020b3f',
  'prometheus-metrics-tracer-otel-agent-1.3.6.jar':
    '5dfb4c10c0834563909c185efab8675e513541847bb8e4751a882a37cc778417',
};

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>isthmus</groupId><artifactId>metrics</artifactId><version>1</version><packaging>pom</packaging>
<dependencies><dependency><groupId>io.strimzi</groupId><artifactId>metrics-reporter</artifactId>
<version>${VERSION}</version></dependency></dependencies></project>
`;

async function fetchJars(into: string): Promise<void> {
  await writeFile(join(into, 'pom.xml'), POM);
  const libs = join(into, 'libs');
  const where = [`-Dmaven.repo.local=${cached('m2')}`, `-DoutputDirectory=${libs}`];
  await step('mvn', ['-B', '-q', COPY, '-DincludeScope=runtime', ...where], { cwd: into });
  const found = (await readdir(libs)).toSorted();
  const isComplete = found.join() === Object.keys(JARS).toSorted().join();
  if (!isComplete) throw new Error(`other jars than expected: ${found.join(', ')}`);
  for (const jar of found) {
    const hash = createHash('sha256')
      .update(await readFile(join(libs, jar)))
      .digest('hex');
    if (hash !== JARS[jar])
      throw new Error(`${jar} is not the one that was published: its SHA-256 is ${hash}`);
  }
}

/** The folder with the jars, fetched and checked if they are not there yet. */
export async function ensureMetricsReporter(): Promise<string> {
  const home = await install({
    name: `metrics-reporter-${VERSION}`,
    files: ['libs'],
    doing: `fetching the metrics reporter ${VERSION} (some seconds, once)`,
    tools: { mvn: 'install Maven, e.g. `apt-get install maven`' },
    make: fetchJars,
  });
  return join(home, 'libs');
}
