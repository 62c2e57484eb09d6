/** A thread beside a worker process: looks whether its event loop turns, and if not, whose code keeps it from that. */
import { Session } from 'node:inspector/promises';
import { workerData } from 'node:worker_threads';
import type { FilterOwner } from '../cluster/filter-owner.ts';
import { mainThreadCpuMs } from './main-thread-cpu.ts';
import { OWNER_FUNCTION, writeNote } from './stall-note.ts';
import type { StallWatchStart } from './stall-note.ts';

/** Who takes all memory has less than a second for it. */
const SAMPLE_MS = 250;
/** Who had less CPU time since the last look was held up by the machine, or by the limit of its container, and may be about to end. */
const COMPUTING_MS = SAMPLE_MS / 4;
const EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(OWNER_FUNCTION)})]()`;

const { beats, fd } = workerData as StallWatchStart;
let seen = -1;
let isAsking = false;
/** Whose code it was at each sample since the last beat, and at how many looks it had computed since. */
let owner: FilterOwner | undefined;
let looks = 0;
let cpuMs = mainThreadCpuMs();

setInterval(() => {
  const before = cpuMs;
  cpuMs = mainThreadCpuMs();
  if (!isStill()) return goOn();
  // Counted and not measured: a machine that stands still takes this thread along. Also while nobody answers: memory that runs out takes long.
  if (cpuMs - before >= COMPUTING_MS) looks++;
  if (!isAsking) void sample();
}, SAMPLE_MS);

/** Whether there was no beat since the last look. */
function isStill(): boolean {
  const now = Atomics.load(beats, 0);
  const isSame = now === seen;
  seen = now;
  return isSame;
}

function goOn(): void {
  if (owner) writeNote(fd, { forMs: 0 });
  owner = undefined;
}

async function sample(): Promise<void> {
  isAsking = true;
  const found = await askOwner();
  isAsking = false;
  if (Atomics.load(beats, 0) !== seen) return; // it has gone on
  if (!found) return goOn();
  if (found.service !== owner?.service || found.filter !== owner.filter) looks = 0;
  owner = found;
  writeNote(fd, { owner, forMs: looks * SAMPLE_MS });
}

/** Answered in the middle of a loop, too, but only after a call into the system, however long that takes. */
async function askOwner(): Promise<FilterOwner | undefined> {
  const session = new Session();
  try {
    session.connectToMainThread();
    const { result } = await session.post('Runtime.evaluate', {
      expression: EXPRESSION,
      returnByValue: true,
    });
    return result.value as FilterOwner | undefined;
  } finally {
    session.disconnect();
  }
}
