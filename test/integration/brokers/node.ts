/** A node of a Kafka cluster without a cluster around it: what would be mounted into its pod, and a container that has it. */
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NODE_PATHS, START_SCRIPT } from '../../../src/control/brokers/start-script.ts';
import { kafkaUuid, propertiesText } from '../../../src/store/embedded/kafka-storage.ts';
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';
import type { ImageRoot } from '../../support/images/root.ts';
import { startContainer } from '../../support/pods/container.ts';
import type { Container } from '../../support/pods/container.ts';
import { workspace } from '../../support/workspace.ts';

const UID = 1000;
export const DATA = '/var/lib/kafka/data-0/kafka-log7';
export const MORE_DATA = '/var/lib/kafka/data-1/kafka-log7';

/** Everything to the output of the container. */
export const CONSOLE_LOG = `appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %m (%c)%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
`;

interface Configuration {
  properties?: Properties;
  format?: readonly string[];
  /** The metadata version. */
  release?: string;
}

/** What is mounted into the pod of a node, as folders that outlive its containers. */
export async function nodeAt(root: ImageRoot, address: string) {
  const folder = workspace('node');
  const folders = ['config', 'pod', 'tmp', 'data-0', 'data-1'];
  for (const name of folders) {
    await mkdir(join(folder, name));
    if (process.getuid?.() === 0) await chown(join(folder, name), UID, UID);
  }
  const clusterId = kafkaUuid();
  const file = (name: string, text: string) => writeFile(join(folder, name), text);
  const mount = (name: string, path: string, readOnly: boolean) => ({
    source: join(folder, name),
    path,
    readOnly,
  });
  let started = 0;
  const node = {
    clusterId,
    logFile: join(folder, 'log'),
    log: () => readFile(join(folder, 'log'), 'utf8').catch(() => ''),
    volume: (name: string) => join(folder, name),
    annotate: (annotations: Record<string, string>) =>
      file(
        'pod/annotations',
        Object.entries(annotations)
          .map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
          .join(''),
      ),
    async configure({ properties = {}, format = [], release = '4.3-IV0' }: Configuration) {
      const text = propertiesText({ ...serverConfig(address), ...properties });
      await file('config/server.config', text);
      await file('config/cluster.id', clusterId);
      await file('config/metadata.version', release);
      await file('config/log4j2.properties', CONSOLE_LOG);
      await file('config/format', format.map((dir) => `${dir}\n`).join(''));
      await file('config/start.sh', START_SCRIPT);
    },
    async start(env: Record<string, string> = {}, image = root): Promise<Container> {
      const own = join(folder, `container-${++started}`);
      await mkdir(own);
      return startContainer({
        name: `node ${started}`,
        hostname: 'events-brokers-7',
        root: image,
        folder: own,
        mounts: [
          mount('config', NODE_PATHS.config, true),
          mount('pod', NODE_PATHS.pod, true),
          mount('tmp', '/tmp', false),
          mount('data-0', '/var/lib/kafka/data-0', false),
          mount('data-1', '/var/lib/kafka/data-1', false),
        ],
        command: ['/bin/sh', `${NODE_PATHS.config}/start.sh`],
        env: { KAFKA_HEAP_OPTS: '-Xms64m -Xmx256m', KAFKA_JVM_OPTS: '-XX:TieredStopAtLevel=1', ...env },
        uid: UID,
        gid: UID,
        groups: [],
        logFile: node.logFile,
      });
    },
    properties: () => readFile(join(folder, 'tmp/server.properties'), 'utf8').catch(() => ''),
    identity: (volume: string) => readFile(join(folder, volume, 'kafka-log7/meta.properties'), 'utf8'),
  };
  return node;
}

export type Node = Awaited<ReturnType<typeof nodeAt>>;

function serverConfig(address: string): Properties {
  return {
    'node.id': 7,
    'process.roles': 'broker,controller',
    'controller.listener.names': 'CONTROLPLANE-9090',
    'controller.quorum.voters': `7@${address}:9090`,
    'listener.security.protocol.map': 'CONTROLPLANE-9090:PLAINTEXT,PLAIN-9092:PLAINTEXT',
    listeners: `CONTROLPLANE-9090://${address}:9090,PLAIN-9092://${address}:9092`,
    'advertised.listeners': `PLAIN-9092://${address}:9092`,
    'inter.broker.listener.name': 'PLAIN-9092',
    'log.dirs': DATA,
    'offsets.topic.replication.factor': 1,
  };
}
