import { Command } from 'commander';
import { stringify } from 'yaml';
import type { ExplainedCode } from '../ops/codes/codes.ts';
import { IsthmusError } from '../ops/errors.ts';
import { outputOption, render } from './output.ts';
import type { OutputFormat } from './output.ts';
import type { Terminal } from './terminal.ts';

/** `isthmus explain CODE`: what a code means, how it comes about, and what to do. */
export function explainCommand(terminal: Terminal): Command {
  return new Command('explain')
    .description(
      'say what a code of an error, a condition or a check means, and what to do; without one, list all codes',
    )
    .argument('[code]', 'the code, as in HostNameTaken or CONFIG_INVALID')
    .addOption(outputOption())
    .action(async (code: string | undefined, { output }: { output: OutputFormat }) => {
      const { CODES, anchorOf, findCode } = await import('../ops/codes/codes.ts');
      if (code === undefined) return terminal.out(render(CODES, COLUMNS, output));
      const entry = findCode(code);
      if (entry) return terminal.out(show(entry, anchorOf(entry.code), output));
      const { nearest } = await import('../resources/nearest.ts');
      const known = CODES.map((one) => one.code);
      const close = nearest(code, known);
      const hint = close === undefined ? 'run `isthmus explain` for all' : `is it ${close}?`;
      throw new IsthmusError('USAGE', `there is no code "${code}"; ${hint}`);
    });
}

const COLUMNS = {
  code: ({ code }: ExplainedCode) => code,
  'seen as': ({ origin }: ExplainedCode) => origin,
  means: ({ means }: ExplainedCode) => means,
};

function show(entry: ExplainedCode, more: string, format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify(entry, null, 2)}\n`;
  if (format === 'yaml') return stringify(entry);
  const { code, means, why, cure } = entry;
  const because = why === undefined ? '' : `Why:         ${why}\n`;
  return `${code}: ${means}\n\n${because}What to do:  ${cure}\nMore:        ${more}\n`;
}
