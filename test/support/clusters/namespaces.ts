/** Network namespaces of a run, each held open by a file in the run's folder. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run as runCommand } from '../../../src/store/embedded/process.ts';
import type { Finished, RunOptions } from '../../../src/store/embedded/process.ts';
import type { Run } from './run.ts';

/** A network namespace: a machine, as far as the network is concerned. */
export interface Namespace {
  readonly name: string;
  readonly file: string;
  /** A command line that runs the given one inside. */
  enter(command: readonly string[]): [program: string, ...args: string[]];
  /** Runs a command inside, to its end; a non-zero code throws. */
  run(command: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Commands of `ip`, one a line. */
  ip(...lines: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** A command that must succeed. */
export async function must(command: readonly string[], options?: RunOptions): Promise<Finished> {
  const [program = '', ...args] = command;
  const finished = await runCommand(program, args, options);
  if (finished.code === 0) return finished;
  throw new Error(
    `${command.join(' ')} failed with code ${finished.code}: ${finished.stderr || finished.stdout}`,
  );
}

/** Routers forward; and answers may come back another way than their questions went. */
const SETTINGS =
  'for s in ip_forward=1 conf/all/rp_filter=0 conf/default/rp_filter=0; do echo ${s#*=} > /proc/sys/net/ipv4/${s%=*}; done';

/** Makes a namespace with a loopback interface. */
export async function makeNamespace(run: Run, name: string): Promise<Namespace> {
  const file = join(run.directory, 'namespaces', name);
  await writeFile(file, '');
  await must(['unshare', `--net=${file}`, 'sh', '-c', `ip link set lo up && ${SETTINGS}`]);
  const namespace: Namespace = {
    name,
    file,
    enter: (command) => ['nsenter', `--net=${file}`, '--', ...command],
    run: (command, options) => must(namespace.enter(command), options),
    async ip(...lines) {
      await namespace.run(['ip', '-batch', '-'], { stdin: lines.join('\n') });
    },
    async remove() {
      await must(['umount', '--lazy', file]); // somebody may just be entering it
      await rm(file);
    },
  };
  return namespace;
}
