import type { ExitCode } from './exit.ts';

/** Where a command's words go: data to `out`, talk to `err`. Tests pass their own. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` shows colours; no if left out. */
  readonly colors?: boolean;
  /** How wide it is; without a limit if left out, as a file is. */
  readonly columns?: number;
  /** How the program ends once the command returns; fine unless said otherwise. */
  exitCode: ExitCode;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    colors: process.stdout.isTTY && !process.env['NO_COLOR'],
    ...(process.stdout.isTTY && { columns: process.stdout.columns }),
    exitCode: 0,
  };
}

/** Resolves when the process is asked to stop (Ctrl-C, or SIGTERM from Kubernetes). A second signal ends it at once. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isAsked) process.exit(1);
        isAsked = true;
        resolve(signal);
      });
    }
  });
}
