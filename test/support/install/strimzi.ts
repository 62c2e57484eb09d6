/**
 * Strimzi's own CRDs, made by its own generator of its own classes: what a cluster with Strimzi has in the place of ours. 0.45.0 serves
 * v1beta2 only; 1.2.0 serves v1 only, and its generator needs Java 21, which not every machine has.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, step } from '../../../src/store/embedded/cache.ts';
import { ensureNewJava } from './python.ts';

export type StrimziVersion = '0.45.0' | '1.2.0';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const POM = join(import.meta.dirname, '../strimzi/pom.xml');

/** The classes of the kinds that we know too. */
const KINDS = {
  Kafka: 'kafka.Kafka',
  KafkaNodePool: 'nodepool.KafkaNodePool',
  KafkaTopic: 'topic.KafkaTopic',
  KafkaUser: 'user.KafkaUser',
  StrimziPodSet: 'podset.StrimziPodSet',
} as const;

export type StrimziKind = keyof typeof KINDS;

const fileOf = (kind: string) => `${kind}.yaml`;

/** The path of the CRD of each kind, made first if they are not there. */
export async function ensureStrimziCrds(
  version: StrimziVersion = '0.45.0',
): Promise<Record<StrimziKind, string>> {
  const kinds = Object.keys(KINDS) as StrimziKind[];
  const home = await install({
    name: `strimzi-crds-${version}`,
    files: kinds.map(fileOf),
    doing: `making the CRDs of Strimzi ${version}, by way of Maven Central (about half a minute, once)`,
    tools: { mvn: 'try `apt-get install maven`', java: 'try `apt-get install openjdk-17-jdk-headless`' },
    async make(into) {
      const pom = join(into, 'pom.xml');
      await copyFile(POM, pom);
      const libs = join(into, 'libs');
      const repository = `-Dmaven.repo.local=${cached('m2')}`;
      const output = `-DoutputDirectory=${libs}`;
      await step('mvn', [
        '-B',
        '-q',
        '-f',
        pom,
        repository,
        `-Dstrimzi.version=${version}`,
        COPY_DEPENDENCIES,
        output,
      ]);
      const crds = Object.entries(KINDS).map(
        ([kind, type]) => `io.strimzi.api.kafka.model.${type}=${join(into, fileOf(kind))}`,
      );
      const generator = 'io.strimzi.crdgenerator.CrdGenerator';
      const java = version === '0.45.0' ? 'java' : await ensureNewJava();
      await step(java, ['-cp', join(libs, '*'), generator, '--yaml', ...crds]);
    },
  });
  return Object.fromEntries(kinds.map((kind) => [kind, join(home, fileOf(kind))])) as Record<
    StrimziKind,
    string
  >;
}
