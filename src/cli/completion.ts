import { Argument, Command } from 'commander';
import type { Shell } from './completion/scripts.ts';
import type { Terminal } from './terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const satisfies Shell[];

/** `isthmus completion SHELL`: the script that a shell loads. */
export function completionCommand(terminal: Terminal): Command {
  return new Command('completion')
    .description('print the completion script of a shell, e.g. source <(isthmus completion bash)')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      const { SCRIPTS } = await import('./completion/scripts.ts');
      terminal.out(SCRIPTS[shell]);
    });
}

/** What the scripts call, in the place of a command; kubectl does the same of a plugin's completions. */
export const COMPLETE = '__complete';

/** Says what the last of the words may become. They are no options of ours, so this is no command. */
export async function printCompletions(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const { complete } = await import('./completion/complete.ts');
  const { clusterLookup } = await import('./completion/lookup.ts');
  const line = words[0] === '--' ? words.slice(1) : words;
  const { candidates, files } = await complete(program, line, clusterLookup);
  terminal.out([...candidates, files ? ':0' : ':4'].map((one) => `${one}\n`).join(''));
}
