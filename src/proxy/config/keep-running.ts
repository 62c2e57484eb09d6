import type { Problem, VirtualClusterConfig } from './model.ts';
import { portBindings } from './ports.ts';

/**
 * What is to run: the virtual clusters of a new configuration, and of those that were rejected the version that runs now. One
 * that stands in the way of a new one, because its ports are somebody else's now, is given up: nobody may get another's clients.
 */
export function withRunning(
  next: readonly VirtualClusterConfig[],
  rejected: readonly Problem[],
  running: readonly VirtualClusterConfig[],
): { clusters: VirtualClusterConfig[]; kept: ReadonlySet<string> } {
  const names = new Set(rejected.map(({ cluster }) => cluster));
  const old = running.filter(({ name }) => names.has(name));
  const conflicts = new Set(portBindings([...next, ...old]).conflicts.map(({ cluster }) => cluster));
  const kept = old.filter(({ name }) => !conflicts.has(name));
  return { clusters: [...next, ...kept], kept: new Set(kept.map(({ name }) => name)) };
}
