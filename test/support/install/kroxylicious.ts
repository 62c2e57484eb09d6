/** Kroxylicious 0.12.0, the newest in Maven Central: the peer of our encryption and of our benchmark. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, step } from '../../../src/store/embedded/cache.ts';

const VERSION = '0.12.0';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const SOURCES = join(import.meta.dirname, '../kroxylicious');

/** The class path of Kroxylicious, fetched first if it is not there. */
export async function ensureKroxylicious(): Promise<string> {
  const home = await install({
    name: `kroxylicious-${VERSION}`,
    files: ['libs', 'classes'],
    doing: `fetching Kroxylicious ${VERSION} from Maven Central (about 1 min, once)`,
    tools: { mvn: 'try `apt-get install maven`', javac: 'try `apt-get install openjdk-17-jdk-headless`' },
    async make(into) {
      const pom = join(into, 'pom.xml');
      await copyFile(join(SOURCES, 'pom.xml'), pom);
      const libs = join(into, 'libs');
      const repository = `-Dmaven.repo.local=${cached('m2')}`;
      const output = `-DoutputDirectory=${libs}`;
      await step('mvn', [
        '-B',
        '-q',
        '-f',
        pom,
        repository,
        COPY_DEPENDENCIES,
        output,
        '-DincludeScope=runtime',
      ]);
      const launcher = join(SOURCES, 'Launcher.java');
      await step('javac', ['-cp', join(libs, '*'), '-d', join(into, 'classes'), launcher]);
    },
  });
  return `${join(home, 'classes')}:${join(home, 'libs', '*')}`;
}
