/**
 * A class data archive for the Kafka of pods: the JVM maps parsed and verified classes instead of loading them from jars, which halves the
 * processor time of a start (3.1 s to 1.7 s). It holds for the very files of one root file system, as they are seen from inside.
 */
import { chmod, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { install } from '../../../src/store/embedded/cache.ts';
import { propertiesText } from '../../../src/store/embedded/kafka-storage.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { removeFormer } from '../images/images.ts';
import type { ImageRoot } from '../images/root.ts';
import { startContainer } from './container.ts';
import type { Mount } from './container.ts';

const INSIDE = '/run/quick-start';
const ARCHIVE = 'kafka.jsa';
const USER = { uid: 1000, gid: 1000, groups: [] };

const RUN = `set -e
java -Xmx256m -cp '/opt/kafka/libs/*' kafka.tools.StorageTool format -t MkU3OEVBNTcwNTJENDM2Qg -c ${INSIDE}/properties
exec java -Xmx256m -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml -XX:ArchiveClassesAtExit=${INSIDE}/${ARCHIVE} -cp '/opt/kafka/libs/*' kafka.Kafka ${INSIDE}/properties`;

/** Runs a node once, and has the JVM write down what it has loaded. */
async function make(root: ImageRoot, into: string): Promise<void> {
  const work = join(into, 'work');
  const shared = join(work, 'shared');
  await mkdir(join(work, 'container'), { recursive: true });
  await mkdir(shared);
  await chmod(shared, 0o777);
  await using ports = await reservePorts(2);
  const [client, controller] = ports.numbers;
  await writeFile(
    join(shared, 'properties'),
    propertiesText({
      'node.id': 1,
      'process.roles': 'broker,controller',
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
      'controller.listener.names': 'CONTROLLER',
      listeners: `PLAINTEXT://127.0.0.1:${client},CONTROLLER://127.0.0.1:${controller}`,
      'log.dirs': `${INSIDE}/data`,
      'log.cleaner.dedupe.buffer.size': 16_777_216,
    }),
  );
  const logFile = join(work, 'log');
  const container = await startContainer({
    name: 'quick-start',
    hostname: 'quick-start',
    root,
    folder: join(work, 'container'),
    mounts: [{ source: shared, path: INSIDE, readOnly: false }],
    command: ['/bin/sh', '-c', RUN],
    env: {},
    ...USER,
    logFile,
  });
  const isStarted = async () => {
    if (container.exitCode !== undefined) throw new Error(await readFile(logFile, 'utf8'));
    return (await readFile(logFile, 'utf8').catch(() => '')).includes('Kafka Server started');
  };
  await waitFor('a Kafka that starts', isStarted, { timeoutMs: 300_000, everyMs: 200 });
  await container.stop(300_000);
  await rename(join(shared, ARCHIVE), join(into, ARCHIVE));
  await rm(work, { recursive: true });
}

/** What a container with Kafka is given besides: a mount, and an option of its JVM. */
export interface QuickStart {
  mount: Mount;
  option: string;
}

export async function ensureQuickStart(root: ImageRoot): Promise<QuickStart> {
  const name = `quick-${basename(dirname(root.folder))}`;
  const home = await install({
    name,
    files: [ARCHIVE],
    doing: 'preparing quick starts of Kafka in pods (about 20 s, once)',
    tools: {},
    make: (into) => make(root, into),
  });
  await utimes(home, new Date(), new Date()); // in use
  await removeFormer(name);
  return {
    mount: { source: home, path: INSIDE, readOnly: true },
    option: `-XX:SharedArchiveFile=${INSIDE}/${ARCHIVE}`,
  };
}
