/** What a process and its children take, from /proc. */
import { readdirSync, readFileSync } from 'node:fs';

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // ended meanwhile
  }
}

function parentOf(pid: string): number {
  // The name in brackets may contain anything, blanks and brackets too.
  const fields = read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields?.[1] ?? -1);
}

/** The process and all that descend from it. */
export function processTree(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => [Number(pid), parentOf(pid)] as const);
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  }
  return tree;
}

/** Processor time so far, in seconds: from the scheduler, in nanoseconds, where /proc/PID/stat has ticks of 10 ms. */
export function cpuSeconds(root: number): number {
  let nanoseconds = 0;
  for (const pid of processTree(root)) {
    for (const task of tasksOf(pid)) {
      nanoseconds += Number(read(`/proc/${pid}/task/${task}/schedstat`)?.split(' ')[0] ?? 0);
    }
  }
  return nanoseconds / 1e9;
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Resident memory, in bytes. What processes share is counted for each of them. */
export function residentBytes(root: number): number {
  return processTree(root).reduce((sum, pid) => {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);
}
