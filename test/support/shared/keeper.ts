/**
 * Keeps API servers for the test files of one run: most of what a small file costs is the start of one. A file has its server for
 * itself, and gets it as if it were new; only the next file saves the start. While nobody has a server, it stands still.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf } from '../../../src/ops/errors.ts';
import { applyCrds } from '../control-plane/crds.ts';
import { startOwnControlPlane } from '../control-plane.ts';
import type { OwnControlPlane } from '../control-plane.ts';
import { takeBaseline } from '../control-plane/renew.ts';
import type { Baseline } from '../control-plane/renew.ts';
import { workspace } from '../workspace.ts';
import { KEEPER } from './lease.ts';
import type { Kept, Reply, Request } from './lease.ts';
import { createPool } from './pool.ts';
import type { Pool } from './pool.ts';

interface KeptPlane {
  plane: OwnControlPlane;
  baseline: Baseline;
}

/** What users of a server may have done to it, in words of `ControlPlane`. */
const CALLS = [
  'userKubeconfig',
  'killApiServer',
  'startApiServer',
  'stopEtcd',
  'startEtcd',
  'memory',
] as const;

async function startKept(hasCrds: boolean): Promise<KeptPlane> {
  const plane = await startOwnControlPlane();
  try {
    if (hasCrds) await applyCrds(plane);
    return { plane, baseline: await takeBaseline(plane) };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

const createPlanes = (hasCrds: boolean): Pool<KeptPlane> =>
  createPool({
    start: () => startKept(hasCrds),
    async renew({ plane, baseline }) {
      if (!plane.isRunning()) return false;
      await baseline.restore();
      plane.pause();
      return true;
    },
    stop: ({ plane }) => plane.stop(),
  });

/** One connection is one user of one server. */
function serve(socket: Socket, pools: Record<Kept, Pool<KeptPlane>>): void {
  let taken: { pool: Pool<KeptPlane>; kept: KeptPlane } | undefined;
  let isOver = false;
  const giveBack = () => {
    isOver = true;
    void taken?.pool.giveBack(taken.kept);
    taken = undefined;
  };
  async function take(kind: Kept): Promise<unknown> {
    const pool = pools[kind];
    const kept = await pool.take();
    kept.plane.resume();
    taken = { pool, kept };
    if (isOver) giveBack();
    return kept.plane.description;
  }
  async function answer({ call, args }: Request): Promise<unknown> {
    if (call === 'take') return take(args[0] as Kept);
    if (call === 'giveBack') return giveBack();
    const known = CALLS.find((name) => name === call);
    if (known === undefined || !taken) throw new Error(`${call}: not now`);
    const work = taken.kept.plane[known] as (...args: readonly unknown[]) => Promise<unknown>;
    return work(...args);
  }
  socket.on('error', () => {});
  socket.on('close', giveBack);
  let former = Promise.resolve();
  createInterface({ input: socket }).on('line', (line) => {
    former = former.then(async () => {
      const reply = await answer(JSON.parse(line) as Request).then(
        (value): Reply => ({ value }),
        (error: unknown): Reply => ({ problem: messageOf(error) }),
      );
      socket.write(`${JSON.stringify(reply)}\n`);
    });
  });
}

export interface Keeper extends AsyncDisposable {
  /** Processes that are started from now on start servers of their own. */
  leave(): void;
}

/** Keeps servers for all processes that are started from now on, until it is disposed of. */
export async function startKeeper(): Promise<Keeper> {
  const path = join(workspace('keeper'), 'socket');
  const pools = { 'control-plane': createPlanes(false), 'control-plane-with-crds': createPlanes(true) };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, pools);
  });
  server.listen(path);
  await once(server, 'listening');
  process.env[KEEPER] = path;
  const leave = () => void delete process.env[KEEPER];
  return {
    leave,
    async [Symbol.asyncDispose]() {
      leave();
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(Object.values(pools).map((pool) => pool.close()));
    },
  };
}
