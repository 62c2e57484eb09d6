import { Command } from 'commander';
import { EXIT } from './exit.ts';
import { outputOption, render } from './output.ts';
import type { OutputFormat } from './output.ts';
import type { Terminal } from './terminal.ts';

interface AnalyzeFlags {
  filename: string;
  output: OutputFormat;
}

interface Finding {
  file: string;
  line: number;
  message: string;
  code: string;
}

/** `isthmus analyze -f DIR`: what is wrong with resources before anything is applied. */
export function analyzeCommand(terminal: Terminal): Command {
  return new Command('analyze')
    .description('check resources without applying them; exit code 1 if anything is wrong')
    .requiredOption('-f, --filename <path>', 'a folder with YAML files, a file, or - for standard input')
    .addOption(outputOption())
    .action(async ({ filename, output }: AnalyzeFlags) => {
      const { analyzeFolder } = await import('../store/analyze.ts');
      const { problems, counts } = await analyzeFolder(filename);
      if (problems.length > 0) terminal.exitCode = EXIT.problems;
      if (problems.length === 0 && output === 'table') terminal.err(`${summary(counts)}\n`);
      else terminal.out(render(problems, COLUMNS, output));
    });
}

const COLUMNS = {
  where: ({ file, line }: Finding) => `${file}:${line}`,
  code: ({ code }: Finding) => code,
  problem: ({ message }: Finding) => message,
};

/** To find nothing wrong means little where nothing was found at all. */
function summary({ ours, foreign }: { ours: number; foreign: number }): string {
  const others = foreign > 0 ? ` (${foreign} of other kinds passed over)` : '';
  return ours === 0
    ? `there are no resources to check${others}`
    : `nothing wrong in ${ours} ${ours === 1 ? 'resource' : 'resources'}${others}`;
}
