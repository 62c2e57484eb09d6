import { readFileSync } from 'node:fs';

/** USER_HZ, the same on every architecture that there is. */
const TICK_MS = 10;

/** The CPU time that the process's first thread has had, asked from any of its threads. Where there is no /proc, that of the process: more, if others compute, too. */
export function mainThreadCpuMs(): number {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, 'latin1');
    // Behind the name in brackets, which may have anything in it: the state, ten numbers, and the time in user mode and in the kernel.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    if (ticks > 0) return ticks * TICK_MS;
  } catch {
    // Not Linux.
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
