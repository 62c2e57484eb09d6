/**
 * A class data archive for Kafka: the JVM maps parsed and verified classes instead of loading 7,000 of them from jars, which
 * takes a third off a broker's start and half off a tool's. It is made by watching which classes a broker and tools load.
 */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { propertiesText, writeStorage } from './kafka-storage.ts';
import { reservePorts } from './ports.ts';
import { run, startServer, waitFor } from './process.ts';
import { install, step } from './cache.ts';

interface Jars {
  classPath: string;
  checkpoint: string;
}

/** An archive fits one build of the JVM. Asking `java -version` would cost more than looking at the file. */
function javaFingerprint(): string {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const stat = statSync(join(directory, 'java'), { throwIfNoEntry: false });
    if (!stat) continue;
    const identity = `${realpathSync(join(directory, 'java'))} ${stat.size} ${stat.mtimeMs}`;
    return createHash('sha256').update(identity).digest('hex').slice(0, 12);
  }
  return 'none';
}

/** What a broker and the most used tools load, as lists of classes in the directory. */
async function watchClasses({ classPath, checkpoint }: Jars, directory: string): Promise<void> {
  const java = (list: string, ...rest: string[]) => [
    '-XX:+UseSerialGC',
    `-XX:DumpLoadedClassList=${join(directory, `${list}.classes`)}`,
    '-cp',
    classPath,
    ...rest,
  ];
  await using ports = await reservePorts(2);
  const [client, controller] = ports.numbers;
  await writeStorage(join(directory, 'data'), { checkpoint, nodeId: 1 });
  const config = join(directory, 'server.properties');
  await writeFile(
    config,
    propertiesText({
      'node.id': 1,
      'process.roles': 'broker,controller',
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
      'controller.listener.names': 'CONTROLLER',
      listeners: `PLAINTEXT://127.0.0.1:${client},CONTROLLER://127.0.0.1:${controller}`,
      'log.dirs': join(directory, 'data'),
      'offsets.topic.replication.factor': 1,
      'log.cleaner.dedupe.buffer.size': 16_777_216,
    }),
  );
  const broker = startServer('kafka', 'java', java('broker', 'kafka.Kafka', config), {
    logFile: join(directory, 'broker.log'),
  });
  const at = ['--bootstrap-server', `127.0.0.1:${client}`, '--topic', 'a'];
  const tool = (list: string, name: string, ...args: string[]) =>
    run('java', java(list, `org.apache.kafka.tools.${name}`, ...at, ...args), { stdin: 'a\n' });
  await waitFor('a topic', async () => (await tool('topics', 'TopicCommand', '--create')).code === 0);
  await tool('producer', 'ConsoleProducer');
  await tool('consumer', 'consumer.ConsoleConsumer', '--from-beginning', '--max-messages', '1');
  await broker.stop('SIGTERM'); // the list is written at a regular end
}

/** One list of all, without comments and without the ids that newer JVMs add, which are good for one list only. */
async function mergeClasses(directory: string): Promise<string> {
  const lists = (await readdir(directory)).filter((name) => name.endsWith('.classes'));
  const lines = await Promise.all(
    lists.map(async (name) => (await readFile(join(directory, name), 'utf8')).split('\n')),
  );
  const classes = lines.flat().filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(classes.map((line) => line.replace(/ id: .*/, '')))].toSorted().join('\n');
}

/** The path of the archive for this machine's Java. */
export async function ensureArchive(name: string, jars: Jars): Promise<string> {
  const file = `classes-${javaFingerprint()}.jsa`;
  const home = await install({
    name,
    files: [file],
    doing: 'preparing quick starts of Apache Kafka (about 20 s, once)',
    tools: {},
    make: async (into) => {
      const work = join(into, 'work');
      await mkdir(work);
      await watchClasses(jars, work);
      await writeFile(join(work, 'all'), await mergeClasses(work));
      const dump = ['-Xshare:dump', '-XX:+UseSerialGC', `-XX:SharedClassListFile=${join(work, 'all')}`];
      await step('java', [
        ...dump,
        `-XX:SharedArchiveFile=${join(into, file)}`,
        '-Xlog:disable',
        '-cp',
        jars.classPath,
      ]);
      await rm(work, { recursive: true });
    },
  });
  return join(home, file);
}
