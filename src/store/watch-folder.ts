import { watch } from 'node:fs';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** An editor writes a file in several steps; a change is told once it has been quiet for this long. */
const QUIET_MS = 200;
/** Where the system tells nothing (network mounts), looking does. */
const LOOK_EVERY_MS = 2000;

/** Calls back when a YAML file below the folder appears, changes or goes. */
export function watchFolder(folder: string, changed: () => void): { close(): void } {
  let seen = fingerprint(folder);
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = fingerprint(folder);
    if (now === seen) return;
    seen = now;
    changed();
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(look, QUIET_MS);
  };
  const watcher = watch(folder, { recursive: true }, soon);
  watcher.on('error', () => {}); // looking goes on
  const looker = setInterval(look, LOOK_EVERY_MS);
  return {
    close() {
      clearTimeout(timer);
      clearInterval(looker);
      watcher.close();
    },
  };
}

/** Changes when any of the files does; state and other hidden files do not count. */
function fingerprint(folder: string): string {
  const files = globSync('**/*.{yaml,yml}', { cwd: folder, exclude: (name) => name.startsWith('.') });
  return files
    .toSorted()
    .map((file) => {
      const { mtimeMs = 0, size = 0 } = statSync(join(folder, file), { throwIfNoEntry: false }) ?? {};
      return `${file} ${mtimeMs} ${size}`;
    })
    .join('\n');
}
