/** What is compared: each peer is one program in front of one broker, with a port in the clear and one behind TLS. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureKroxylicious } from '../../test/support/install/kroxylicious.ts';
import type { KafkaCluster } from '../../test/support/kafka.ts';
import { startServer } from '../../src/store/embedded/process.ts';
import type { Server } from '../../src/store/embedded/process.ts';
import { ensureHaproxy, haproxyConfig } from './haproxy.ts';
import { discover, produceOne } from './load.ts';
import type { Target } from './wire.ts';

export type PeerName = 'direct' | 'ours' | 'kroxylicious' | 'haproxy';
export type Channel = 'plain' | 'tls';

export interface Peer {
  name: PeerName;
  /** Where clients begin. */
  bootstrap: Record<Channel, Target>;
  /** Whether it tells clients addresses of its own; one that forwards bytes does not. */
  rewrites: boolean;
  /** How it is started; undefined for the direct connection. */
  start?: () => Server;
}

/** Where it all happens. The peers show the broker's own certificate. */
export interface Site {
  kafka: KafkaCluster;
  directory: string;
  /** Our program, as it is shipped: JavaScript. Stripping types as it starts costs 30 MB and a third of the processor time. */
  program: string;
}

const HOST = '127.0.0.1';
const START_LIMIT_MS = 180_000;
/** Plenty: with a quarter of it a JVM under this load is busy collecting garbage, and that is not what is compared. */
const HEAP = '1g';

function targets(ports: Record<Channel, number>, ca: string): Record<Channel, Target> {
  return { plain: { host: HOST, port: ports.plain }, tls: { host: HOST, port: ports.tls, ca } };
}

/** A configuration file for ours and for Kroxylicious alike: a virtual cluster with two gateways. */
function gatewayConfig(site: Site, firstPort: number): object {
  const files = writeCertificate(site);
  const gateway = (name: string, port: number, tls?: object) => ({
    name,
    portIdentifiesNode: {
      bootstrapAddress: `${HOST}:${port}`,
      nodeStartPort: port + 1,
      nodeIdRanges: [{ name: 'only', start: 1, end: 1 }],
    },
    ...(tls ? { tls } : {}),
  });
  const key = { privateKeyFile: files.key, certificateFile: files.certificate };
  return {
    virtualClusters: [
      {
        name: 'bench',
        targetCluster: { bootstrapServers: site.kafka.bootstrap.plaintext },
        gateways: [gateway('plain', firstPort), gateway('tls', firstPort + 2, { key })],
      },
    ],
  };
}

function writeCertificate({ directory, kafka }: Site): {
  key: string;
  certificate: string;
  both: string;
} {
  const write = (name: string, text: string) => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const { certPem, keyPem } = kafka.tls.server;
  return {
    key: write('key.pem', keyPem),
    certificate: write('certificate.pem', certPem),
    both: write('both.pem', certPem + keyPem),
  };
}

function ours(site: Site): Peer {
  const port = 9192;
  const config = join(site.directory, 'isthmus.yaml');
  writeFileSync(config, JSON.stringify(gatewayConfig(site, port)));
  const logFile = join(site.directory, 'isthmus.log');
  const start = () =>
    startServer('isthmus', process.execPath, [site.program, 'proxy', '--config', config], { logFile });
  return {
    name: 'ours',
    bootstrap: targets({ plain: port, tls: port + 2 }, site.kafka.tls.authority.certPem),
    rewrites: true,
    start,
  };
}

async function kroxylicious(site: Site): Promise<Peer> {
  const port = 9292;
  const config = join(site.directory, 'kroxylicious.yaml');
  writeFileSync(config, JSON.stringify(gatewayConfig(site, port)));
  const java = [`-Xmx${HEAP}`, '-cp', await ensureKroxylicious(), 'Launcher', config];
  const logFile = join(site.directory, 'kroxylicious.log');
  const start = () => startServer('kroxylicious', 'java', java, { logFile });
  const bootstrap = targets({ plain: port, tls: port + 2 }, site.kafka.tls.authority.certPem);
  return { name: 'kroxylicious', bootstrap, rewrites: true, start };
}

async function haproxy(site: Site): Promise<Peer> {
  const ports = { plain: 9392, tls: 9394 };
  const { program, env } = await ensureHaproxy();
  const config = join(site.directory, 'haproxy.cfg');
  writeFileSync(config, haproxyConfig(site.kafka.bootstrap.plaintext, ports, writeCertificate(site).both));
  const logFile = join(site.directory, 'haproxy.log');
  const start = () => startServer('haproxy', program, ['-db', '-f', config], { logFile, env });
  return {
    name: 'haproxy',
    bootstrap: targets(ports, site.kafka.tls.authority.certPem),
    rewrites: false,
    start,
  };
}

function direct({ kafka }: Site): Peer {
  const at = (address: string): Target => ({ host: HOST, port: Number(address.split(':')[1]) });
  const tls = { ...at(kafka.bootstrap.ssl), ca: kafka.tls.authority.certPem };
  return { name: 'direct', bootstrap: { plain: at(kafka.bootstrap.plaintext), tls }, rewrites: false };
}

/** All that are compared. */
export async function allPeers(site: Site): Promise<Peer[]> {
  return [direct(site), ours(site), await kroxylicious(site), await haproxy(site)];
}

/** Where the broker is reached through a peer. */
export async function brokerThrough(peer: Peer, channel: Channel): Promise<Target> {
  const bootstrap = peer.bootstrap[channel];
  return peer.rewrites ? discover(bootstrap) : bootstrap;
}

/** Starts a peer and returns how long it took, in seconds, until a record sent through it was acknowledged. */
export async function startPeer(
  peer: Peer,
  topic: string,
): Promise<{ server: Server; seconds: number } | undefined> {
  if (!peer.start) return undefined;
  const started = performance.now();
  const server = peer.start();
  for (;;) {
    try {
      await produceOne(await brokerThrough(peer, 'plain'), topic);
      return { server, seconds: (performance.now() - started) / 1000 };
    } catch (error) {
      const late = performance.now() - started > START_LIMIT_MS;
      if (late || !server.running) {
        await server.stop('SIGKILL');
        throw new Error(`${peer.name} does not start; see ${server.logFile}`, { cause: error });
      }
    }
    await delay(5);
  }
}
