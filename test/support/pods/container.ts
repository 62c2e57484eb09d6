/**
 * Runs a command as a container would: the image's root file system, read-only, with folders mounted into it, first process of its own
 * process namespace, as the user of the image. The network is the machine's. Needs root, or user namespaces.
 *
 * Two process namespaces, one in the other: the first process of the outer one ends when this process does, however that ends, and
 * then the kernel ends all within. The command itself cannot be tied to us so, since a process that changes its user is let go.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { ImageRoot } from '../images/root.ts';
import { isAlive, run, startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../../src/store/embedded/process.ts';

/** A file or folder of this machine and where the container sees it. */
export interface Mount {
  source: string;
  path: string;
  readOnly: boolean;
}

export interface ContainerPlan {
  /** For its log. */
  name: string;
  hostname: string;
  root: ImageRoot;
  /** An empty folder for what belongs to this container alone. */
  folder: string;
  mounts: readonly Mount[];
  command: readonly string[];
  /** Over the image's own. */
  env: Readonly<Record<string, string>>;
  uid: number;
  gid: number;
  groups: readonly number[];
  logFile: string;
}

export interface Container {
  /** Undefined while it runs. */
  readonly exitCode: number | undefined;
  /** What it left in /dev/termination-log. */
  terminationMessage(): Promise<string>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Sends SIGTERM, and after the grace SIGKILL; ends when it has ended. */
  stop(graceMs: number): Promise<void>;
  kill(): Promise<void>;
  /** Runs a command inside, as its user. */
  exec(command: readonly string[], timeoutMs: number): Promise<Finished>;
}

const SETUP = join(import.meta.dirname, 'container-setup.sh');
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
const isRoot = process.getuid?.() === 0;

/** The path of a program, also where root's programs are. */
function programPath(name: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not on the PATH; containers of the testbed need it`);
  return found;
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/**
 * Makes the folders of a root file system and says what of the image has to be mounted where. A folder into which something else is
 * to be mounted is made anew and its contents are mounted one by one, because a mount needs a place and the image cannot be written.
 */
async function layOut(image: string, root: string, mounts: readonly Mount[], folder = ''): Promise<Mount[]> {
  const parts: Mount[] = [];
  for (const entry of await readdir(join(image, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    const [source, target] = [join(image, path), join(root, path)];
    if (mounts.some((mount) => mount.path === path)) continue; // hidden by the mount
    if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else if (entry.isDirectory()) {
      await mkdir(target, { recursive: true });
      const isShared = mounts.some((mount) => isWithin(mount.path, path));
      if (isShared) parts.push(...(await layOut(image, root, mounts, path)));
      else parts.push({ source, path, readOnly: true });
    } else {
      await writeFile(target, '');
      parts.push({ source, path, readOnly: true });
    }
  }
  return parts;
}

/** The place of a mount: a folder or an empty file. */
async function makePlace(root: string, { source, path }: Mount): Promise<void> {
  const isFolder = (await readdir(source).catch(() => undefined)) !== undefined;
  await mkdir(join(root, isFolder ? path : dirname(path)), { recursive: true });
  if (!isFolder) await writeFile(join(root, path), '');
}

async function prepare(plan: ContainerPlan, terminationLog: string): Promise<{ root: string; all: Mount[] }> {
  const root = join(plan.folder, 'root');
  await mkdir(join(root, 'dev'), { recursive: true });
  await mkdir(join(root, 'proc'));
  await writeFile(terminationLog, '');
  await chmod(terminationLog, 0o666);
  const devices = DEVICES.map((name) => ({ source: `/dev/${name}`, path: `/dev/${name}`, readOnly: false }));
  const log = { source: terminationLog, path: '/dev/termination-log', readOnly: false };
  // A mount within another comes after it.
  const own = [...devices, log, ...plan.mounts].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const parts = await layOut(plan.root.folder, root, own);
  for (const mount of own) await makePlace(root, mount);
  return { root, all: [...parts, ...own] };
}

const assignments = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

/** The command line that starts the command in its root file system as its user. */
function entering({ uid, gid, groups, command }: ContainerPlan, root: string): string[] {
  if (isRoot)
    return [
      programPath('chroot'),
      `--userspec=+${uid}:+${gid}`,
      `--groups=${[gid, ...groups].join(',')}`,
      root,
      ...command,
    ];
  const user = ['--user', `--map-user=${uid}`, `--map-group=${gid}`];
  return [programPath('unshare'), ...user, `--root=${root}`, ...command];
}

async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const [first] = children.trim().split(' ');
  return first === undefined || first === '' ? undefined : Number(first);
}

function containerOf(plan: ContainerPlan, server: Server, env: string[], terminationLog: string): Container {
  /** The command's process, by our numbers: a child of a child. */
  const processId = async () => {
    const outer = await childOf(server.pid);
    return outer === undefined ? undefined : childOf(outer);
  };
  /** Without root, its namespaces belong to the user namespace around it, where nobody else has a number. */
  const identity = isRoot
    ? [`--setuid=${plan.uid}`, `--setgid=${plan.gid}`]
    : [`--user=/proc/${server.pid}/ns/user`, '--preserve-credentials'];
  const ended = (timeoutMs: number) =>
    waitFor(`the end of ${plan.name}`, async () => !server.running, { timeoutMs });
  let wasKilled = false;
  const container: Container = {
    get exitCode() {
      // Those around a killed process do not say so.
      return wasKilled && !server.running ? 137 : server.exitCode;
    },
    terminationMessage: async () => (await readFile(terminationLog, 'utf8').catch(() => '')).slice(0, 4096),
    async signal(signal) {
      const pid = await processId();
      if (pid !== undefined && server.running && isAlive(pid)) process.kill(pid, signal);
    },
    async stop(graceMs) {
      await container.signal('SIGTERM');
      await ended(graceMs).catch(() => {});
      await container.kill();
    },
    async kill() {
      wasKilled ||= server.running;
      await container.signal('SIGKILL'); // those around it end after it, so that its files are free when they have
      await ended(10_000).catch(() => server.stop('SIGKILL'));
    },
    async exec(command, timeoutMs) {
      const pid = await processId();
      if (pid === undefined) throw new Error(`${plan.name} does not run`);
      const target = [`--target=${pid}`, '--mount', '--pid', '--uts', '--root', ...identity];
      const enter = [programPath('nsenter'), ...target, ...command];
      return run('env', ['-i', ...env, ...enter], { timeoutMs });
    },
  };
  return container;
}

/** Starts the command. */
export async function startContainer(plan: ContainerPlan): Promise<Container> {
  const terminationLog = join(plan.folder, 'termination-log');
  const { root, all } = await prepare(plan, terminationLog);
  const env = assignments({ HOSTNAME: plan.hostname, ...plan.root.image.environment, ...plan.env });
  const mounts = all.flatMap(({ source, path, readOnly }) => [readOnly ? 'ro' : 'rw', source, path]);
  const outer = ['--pid', '--fork', '--kill-child', ...(isRoot ? [] : ['--map-root-user'])];
  const inner = ['unshare', '--pid', '--mount', '--uts', '--fork'];
  const setup = ['sh', SETUP, root, plan.hostname, ...mounts, '--', 'env', '-i', ...env];
  const args = [...outer, ...inner, ...setup, ...entering(plan, root)];
  const server = startServer(plan.name, 'unshare', args, { logFile: plan.logFile });
  return containerOf(plan, server, env, terminationLog);
}
