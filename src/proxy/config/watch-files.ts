import { statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

export interface FileWatch {
  /** Watches this file, too, from now on: whoever adds it and then reads it misses no change. */
  add(file: string): void;
  close(): void;
}

/** What tells one state of a file from another. Follows links: Kubernetes changes a mounted Secret by moving one. */
function stateOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : 'missing';
}

/**
 * Calls back when any of the files changes from what it is now. Looks every `everyMs`, and at once where the system
 * tells of changes.
 */
export function watchFiles(files: readonly string[], onChange: () => void, everyMs = 1000): FileWatch {
  const states = new Map(files.map((file) => [file, stateOf(file)]));
  const look = () => {
    let changed = false;
    for (const [file, before] of states) {
      const now = stateOf(file);
      states.set(file, now);
      changed ||= before !== now;
    }
    if (changed) onChange();
  };
  let soon: NodeJS.Timeout | undefined;
  const lookSoon = () => {
    clearTimeout(soon);
    soon = setTimeout(look, 20);
  };
  const watchers: FSWatcher[] = [];
  for (const directory of new Set(files.map((file) => dirname(file)))) {
    try {
      watchers.push(watch(directory, { persistent: false }, lookSoon).on('error', () => {}));
    } catch {
      // Not every file system tells of changes; looking every now and then is enough.
    }
  }
  const timer = setInterval(look, everyMs);
  timer.unref();
  return {
    add(file) {
      if (!states.has(file)) states.set(file, stateOf(file));
    },
    close() {
      clearInterval(timer);
      clearTimeout(soon);
      for (const watcher of watchers) watcher.close();
    },
  };
}
