/** YAML as golden files have it: what is small stands in one line, so that a difference is read at a glance. */
import { Document, isCollection, isPair, isScalar, visit } from 'yaml';
import type { Node, Pair } from 'yaml';
import type { Json } from './patch.ts';

const COLUMNS = 110;
const OPTIONS = { lineWidth: 0, singleQuote: true, flowCollectionPadding: true } as const;

/** `levels`: so many maps from the outside have each key on a line of its own, however small they are. */
export function toYaml(value: Json, levels: number): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node, path) {
      const mayFlow = depthOf(path) >= levels || node.items.length === 0;
      if (mayFlow && isSmall(node)) node.flow = widthOf(node, path) <= COLUMNS;
    },
  });
  return document.toString(OPTIONS);
}

/** Two things that each have parts are read more easily one below the other. */
function isSmall(node: unknown): boolean {
  if (!isCollection(node)) return true;
  const values = (node.items as unknown[]).map((item) => (isPair(item) ? item.value : item));
  const withParts = values.filter((value) => isCollection(value) && value.items.length > 0);
  return withParts.length < 2 && withParts.every(isSmall);
}

/** How long a line would be, with the indentation and the key before it. */
function widthOf(node: Node, path: readonly unknown[]): number {
  const line = new Document(node.toJS(new Document()), { aliasDuplicateObjects: false });
  if (isCollection(line.contents)) line.contents.flow = true;
  const pair = path.at(-1) as Partial<Pair> | undefined;
  const key = isScalar(pair?.key) ? String(pair.key.value).length + 2 : 2;
  return depthOf(path) * 2 + key + line.toString(OPTIONS).length;
}

function depthOf(path: readonly unknown[]): number {
  return path.filter((step) => isCollection(step)).length;
}
