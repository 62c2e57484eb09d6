/** Fetches and builds ahead, in a process of low priority, what later steps need. */
import { join } from 'node:path';
import { startServer } from '../src/store/embedded/process.ts';

/** What to get ready: servers for integration tests, or those and whole clusters with all their images. */
export type Ahead = 'testbed' | 'clusters';

let begun: Ahead | undefined;

/**
 * Begins, and ends with this process at the latest. Nobody listens to it: whoever needs a thing asks for it as always, waits
 * if it is being made, makes what is missing, and reports what cannot be made.
 */
export function startAhead(what: Ahead): void {
  if (begun === what || begun === 'clusters') return;
  begun = what;
  const script = join(import.meta.dirname, 'prepare.ts');
  startServer('ahead', process.execPath, [script, what], { logFile: '/dev/null' });
}
