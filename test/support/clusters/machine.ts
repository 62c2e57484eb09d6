/**
 * A machine in a box: a network namespace, and mount, process and host name namespaces around a first process. Ending
 * that one ends everything on the machine, as if the power had failed. The kernel sees to it, also when the test itself
 * is killed: no process can be left behind.
 */
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../../src/store/embedded/process.ts';
import { must } from './namespaces.ts';
import type { Namespace } from './namespaces.ts';

export interface MachinePlan {
  name: string;
  network: Namespace;
  /** What is on its disk: /var/lib and /var/log survive, /run is new each time. */
  folder: string;
  logs: string;
  /** Program of the first process. */
  pause: string;
  env: Record<string, string>;
}

export interface Machine {
  /** Starts a server on the machine. With `again`, it is started again whenever it ends, as systemd would. */
  serve(server: string, command: readonly string[], options?: { again?: boolean }): Server;
  /** Runs a command on the machine, to its end; a non-zero code throws. */
  run(command: readonly string[]): Promise<Finished>;
  servers(): Server[];
  powerOff(): Promise<void>;
}

/** The first process, as everybody else numbers it. */
async function firstProcess(unshare: Server): Promise<number> {
  const children = await readFile(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}

async function startFirst({ name, network, folder, logs, pause }: MachinePlan): Promise<Server> {
  await rm(join(folder, 'root/run'), { recursive: true, force: true });
  const script = ['sh', join(import.meta.dirname, 'machine-init.sh'), folder, name, pause];
  const namespaces = ['--mount', '--uts', '--pid', '--fork', '--kill-child', '--propagation=private'];
  const [program, ...args] = network.enter(['unshare', ...namespaces, ...script]);
  const unshare = startServer(`${name} init`, program, args, { logFile: join(logs, 'init.log') });
  const isUp = () => Promise.resolve(existsSync(join(folder, 'root/run/machine-is-up')));
  await waitFor(`first process of ${name}`, isUp, { abort: () => ended(unshare) });
  return unshare;
}

/** Why there is no point in waiting for a server any more. */
export function ended(server: Server): string | undefined {
  return server.running ? undefined : `it has ended; see ${server.logFile}`;
}

/** Starts a machine. */
export async function startMachine(plan: MachinePlan): Promise<Machine> {
  const { name, logs, env } = plan;
  const unshare = await startFirst(plan);
  const target = `--target=${await firstProcess(unshare)}`;
  const servers: Server[] = [];
  const inside = (command: readonly string[]) => [
    'nsenter',
    target,
    '--mount',
    '--uts',
    '--net',
    '--pid',
    ...command,
  ];
  return {
    serve(server, command, { again = false } = {}) {
      const lasting = again ? ['sh', '-c', 'while :; do "$@"; sleep 1; done', 'sh', ...command] : command;
      // nsenter stays as the parent of what it starts, and must take it along when it goes.
      const [program = '', ...args] = inside(['setpriv', '--pdeathsig', 'KILL', ...lasting]);
      const started = startServer(`${name} ${server}`, program, args, {
        logFile: join(logs, `${server}.log`),
        env,
      });
      servers.push(started);
      return started;
    },
    // Minutes, because several machines that unpack large images at once share one disk.
    run: (command) => must(inside(command), { env, timeoutMs: 600_000 }),
    servers: () => servers,
    async powerOff() {
      await unshare.stop('SIGKILL');
      await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    },
  };
}
