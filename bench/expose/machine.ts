/**
 * Processor time of the whole machine. Translating addresses is the kernel's work, done in softirqs of whichever process has just
 * sent, or of none: what processes are charged with does not tell paths apart.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Of Linux on everything that Node runs on. */
const TICKS_PER_SECOND = 100;

/** From /proc/stat: user, nice, system, irq and softirq. Guests are counted as users already; steal is somebody else's. */
export function busyTicks(stat: string): number {
  const fields = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = fields;
  return user + nice + system + irq + softirq;
}

const busySeconds = () => busyTicks(readFileSync('/proc/stat', 'utf8')) / TICKS_PER_SECOND;

/** Seconds that all cores together were busy while this went on. */
export async function busyDuring<T>(work: () => Promise<T>): Promise<{ result: T; busySeconds: number }> {
  const before = busySeconds();
  const result = await work();
  return { result, busySeconds: busySeconds() - before };
}

/** How many cores are busy while nobody here does anything. */
export async function quietInterval(milliseconds: number): Promise<number> {
  const began = performance.now();
  const { busySeconds } = await busyDuring(() => delay(milliseconds));
  return (busySeconds * 1000) / (performance.now() - began);
}
