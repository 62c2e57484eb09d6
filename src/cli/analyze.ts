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
}

/** `isthmus analyze -f DIR`: what is wrong with resources before anything is applied. */
export function analyzeCommand(terminal: Terminal): Command {
  return new Command('analyze')
    .description('check a folder of resources without applying them; exit code 1 if anything is wrong')
    .requiredOption('-f, --filename <folder>', 'the folder with YAML files')
    .addOption(outputOption())
    .action(async ({ filename, output }: AnalyzeFlags) => {
      const { analyzeFolder } = await import('../store/analyze.ts');
      const findings = analyzeFolder(filename);
      if (findings.length > 0) terminal.exitCode = EXIT.problems;
      if (findings.length === 0 && output === 'table') terminal.err(`${filename}: nothing wrong\n`);
      else terminal.out(render(findings, COLUMNS, output));
    });
}

const COLUMNS = {
  where: ({ file, line }: Finding) => `${file}:${line}`,
  problem: ({ message }: Finding) => message,
};
