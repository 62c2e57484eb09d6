import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { IsthmusError } from '../../ops/errors.ts';
import { EXIT } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** `isthmus convert -f PATH`: prints manifests of Kroxylicious' operator as ours; it touches no cluster. */
export function convertCommand(terminal: Terminal): Command {
  return new Command('convert')
    .description('print manifests of Kroxylicious’ operator in the form that is served here')
    .requiredOption('-f, --filename <path>', 'a folder with YAML files, a file, or - for standard input')
    .action(async ({ filename }: { filename: string }) => {
      const { emptyContents, readFolder, readText } = await import('../../store/folder.ts');
      const { convert } = await import('./convert.ts');
      const { yamlOf } = await import('../../control/install/objects.ts');
      const contents = emptyContents();
      if (filename === '-') readText('standard input', readFileSync(0, 'utf8'), contents);
      else if (existsSync(filename)) Object.assign(contents, readFolder(filename));
      else throw new IsthmusError('CONFIG_INVALID', `there is no ${filename}`);
      for (const { file, line, message } of contents.problems)
        terminal.err(`isthmus: ${file}:${line}: ${message}\n`);
      const { documents, remarks } = convert(contents.documents.map(({ value }) => value));
      terminal.out(yamlOf(documents));
      for (const { object, field, message } of [...remarks, ...(await refusals(documents))])
        terminal.err(`isthmus: ${object}: ${field === '' ? '' : `${field}: `}${message}\n`);
      if (contents.problems.length > 0 || remarks.length > 0) terminal.exitCode = EXIT.problems;
    });
}

/** What would be refused when it is applied. */
async function refusals(documents: readonly object[]) {
  const { parseResource } = await import('../../resources/parse.ts');
  return documents.flatMap((document) => {
    const parsed = parseResource(document);
    if (parsed.ok || parsed.unknownKind) return [];
    const { kind, metadata } = document as { kind: string; metadata?: { name?: string } };
    const object = `${kind}/${metadata?.name}`;
    return parsed.problems.map(({ path, message }) => ({
      object,
      field: path.map(String).join('.'),
      message,
    }));
  });
}
