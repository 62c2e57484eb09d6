/**
 * Takes the manifests out of the design documents and writes them to test/fixtures/documents, so that tests can apply
 * what the documents print. The documents are not part of this repository; where they are beside it, a test compares.
 *
 *     node tools/run.mjs tools/extract-manifests.ts
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { applyEdits, placeholdersIn } from './documents/edits.ts';
import { DOCUMENTS, DOCUMENTS_WITHOUT_YAML } from './documents/fill-ins.ts';
import type { Document, Variant } from './documents/fill-ins.ts';

const root = join(import.meta.dirname, '..');
export const DOCUMENTS_FOLDER = join(root, '../shared/seeds');
export const FIXTURES_FOLDER = join(root, 'test/fixtures/documents');

/** Path within the folder of fixtures → content. */
export function extractManifests(folder: string): Map<string, string> {
  for (const file of DOCUMENTS_WITHOUT_YAML) {
    const blocks = yamlBlocks(readFileSync(join(folder, file), 'utf8'));
    if (blocks.length > 0) throw new Error(`${file} prints YAML that nobody has looked at`);
  }
  return new Map(DOCUMENTS.flatMap((document) => manifestsOf(document, join(folder, document.file))));
}

/** The lines of each fenced block of YAML. A fence is a line of its own: one document has one within a comment. */
function yamlBlocks(text: string): string[][] {
  const blocks: string[][] = [];
  let current: string[] | undefined;
  for (const line of text.split('\n')) {
    if (current === undefined && line.trimEnd() === '```yaml') current = [];
    else if (current !== undefined && line.trimEnd() === '```') {
      blocks.push(current);
      current = undefined;
    } else current?.push(line);
  }
  return blocks;
}

function manifestsOf({ file, road, blocks }: Document, path: string): [string, string][] {
  const printed = yamlBlocks(readFileSync(path, 'utf8'));
  if (printed.length !== blocks.length) {
    throw new Error(`${file} prints ${printed.length} blocks of YAML, and ${blocks.length} are described`);
  }
  let number = 0;
  return blocks.flatMap((block, index) => {
    if ('skip' in block) return [];
    return block.variants.flatMap((variant) =>
      manifestsIn(printed[index]!, variant).map(({ name, content }): [string, string] => {
        number += 1;
        return [`${road}/${String(number).padStart(2, '0')}-${name}.yaml`, content];
      }),
    );
  });
}

function manifestsIn(printed: readonly string[], variant: Variant): { name: string; content: string }[] {
  const { lines, notes } = applyEdits(printed, variant.edits);
  const leftover = placeholdersIn(lines);
  if (leftover.length > 0) throw new Error(`still to be filled in: ${leftover.join(', ')}`);
  const comment =
    variant.notApplied === undefined ? notes : [`# not applied: ${variant.notApplied}`, ...notes];
  return lines
    .join('\n')
    .split(/^---$/m)
    .map((text) => ({
      name: nameOf(text, variant),
      content: `${[...comment, text.replace(/^\n+|\s+$/g, '')].join('\n')}\n`,
    }));
}

function nameOf(text: string, { name }: Variant): string {
  const { kind, metadata } = parse(text) as { kind: string; metadata?: { name: string } };
  return [kind.toLowerCase(), metadata?.name, name].filter((part) => part !== undefined).join('-');
}

if (import.meta.main) {
  if (!existsSync(DOCUMENTS_FOLDER)) throw new Error('the design documents are not beside this repository');
  rmSync(FIXTURES_FOLDER, { recursive: true, force: true });
  const manifests = extractManifests(DOCUMENTS_FOLDER);
  for (const [path, content] of manifests) {
    mkdirSync(dirname(join(FIXTURES_FOLDER, path)), { recursive: true });
    writeFileSync(join(FIXTURES_FOLDER, path), content);
  }
  process.stdout.write(`wrote ${manifests.size} manifests\n`);
}
