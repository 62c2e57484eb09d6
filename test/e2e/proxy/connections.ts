/** Connections of clients, for which a test watches out while it changes things. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node } from '../../support/clusters/node.ts';
import type { Outside } from '../../support/clusters/outside.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';

const HOLDER = join(import.meta.dirname, 'holder.ts');

/** Where and how a client outside connects. */
export interface Entrance {
  outside: Outside;
  bootstrap: string;
  caFile: string;
  /** More for librdkafka, e.g. a certificate of the client's own. */
  config?: Readonly<Record<string, string>>;
}

/** What the program that holds connections is told. */
export interface Holding {
  host: string;
  port: number;
  servername: string;
  caFile: string;
  /** One connection for each, with this pause between a question's answer and the next question. */
  pausesMs: readonly number[];
}

/** Connections that are held open. */
export interface Held {
  /** Fails if one of them was lost, or if one is not answered any more. */
  check(): Promise<void>;
  /** Waits until all of them are lost. */
  lost(): Promise<void>;
  stop(): Promise<void>;
}

interface Said {
  answers: number[];
  lost: object[];
}

/** What the holder has said so far. Its last line may be half written. */
async function readSaid(file: string): Promise<Said> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  const said = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Partial<Said>);
  return {
    answers: said.findLast(({ answers }) => answers !== undefined)?.answers ?? [],
    lost: said.filter(({ lost }) => lost !== undefined),
  };
}

async function watch(name: string, server: Server, connections: number): Promise<Held> {
  const said = () => readSaid(server.logFile);
  const patience = { timeoutMs: 180_000, everyMs: 250 };
  const held: Held = {
    async check() {
      const before = await said();
      const isSettled = async () => {
        const { answers, lost } = await said();
        // The second answer from now on is one to a question from now on.
        const isAnswered = (count: number, i: number) => count >= (before.answers[i] ?? 0) + 2;
        return lost.length > 0 || (answers.length === connections && answers.every(isAnswered));
      };
      const abort = () => (server.running ? undefined : 'nobody holds them any more');
      await waitFor(`answers to ${name}`, isSettled, { ...patience, abort });
      assert.deepEqual((await said()).lost, [], `connections to ${name} were lost`);
    },
    async lost() {
      const areLost = async () => (await said()).lost.length === connections;
      await waitFor(`the loss of connections to ${name}`, areLost, patience);
    },
    stop: () => server.stop('SIGKILL'),
  };
  try {
    await held.check();
  } catch (error) {
    await held.stop();
    throw error;
  }
  return held;
}

const holderOf = (holding: Holding) => [process.execPath, HOLDER, JSON.stringify(holding)];

/** Opens connections from outside and waits until they are answered. */
export function holdConnections(name: string, { outside, bootstrap, caFile }: Entrance): Promise<Held> {
  const [host = '', port] = bootstrap.split(':');
  const pausesMs = [200, 200, 200, 200, 200, 200];
  const holding = { host, servername: host, port: Number(port), caFile, pausesMs };
  return watch(name, outside.serve(`held-${name}`, holderOf(holding)), pausesMs.length);
}

/**
 * Opens connections from a node straight to the address of one pod, and waits until they are answered: no Service and no
 * balancer chooses where they go. Half of them are busy, half are quiet most of the time.
 */
export function holdConnectionsTo(
  name: string,
  node: Node,
  address: Omit<Holding, 'pausesMs'>,
  logs: string,
): Promise<Held> {
  const pausesMs = [200, 200, 200, 2000, 2000, 2000];
  const [program, ...args] = node.network.enter(holderOf({ ...address, pausesMs }));
  const server = startServer(name, program, args, { logFile: join(logs, `held-${name}.log`) });
  return watch(name, server, pausesMs.length);
}

/** The fingerprint of the certificate that a client outside is shown. */
export async function shownCertificate({ outside, bootstrap }: Entrance): Promise<string | undefined> {
  const script = `const [host, port] = process.argv[1].split(':');
    const socket = require('node:tls').connect({ host, port, servername: host, rejectUnauthorized: false }, () => {
      console.log(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));`;
  const { code, stdout } = await outside.run([process.execPath, '-e', script, bootstrap]);
  return code === 0 ? stdout.trim() : undefined;
}
