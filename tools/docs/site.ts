/** The documentation as a site on this machine: every page of the project, and a search over all of them. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { join } from 'node:path';
import { escapeHtml, renderMarkdown } from './markdown.ts';
import type { Rendered } from './markdown.ts';

export interface Page extends Rendered {
  /** From the top of the repository, as in docs/kafka.md. */
  path: string;
  text: string;
}

export interface Hit {
  path: string;
  title: string;
  /** The line with the words. */
  line: string;
}

const MOST_HITS = 50;
const INDEX = 'docs/README.md';

export function readPages(root: string): Map<string, Page> {
  const paths = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], { cwd: root });
  return new Map(
    paths.toSorted().map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [path, { path, text, ...renderMarkdown(text) }];
    }),
  );
}

/** Pages that have all words, the most telling first: words in the title, then how often they are there. */
export function search(pages: ReadonlyMap<string, Page>, query: string): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = [...pages.values()].flatMap((page) => {
    const text = page.text.toLowerCase();
    if (!words.every((word) => text.includes(word))) return [];
    const inTitle = words.filter((word) => page.title.toLowerCase().includes(word)).length;
    const often = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
    return [{ page, score: inTitle * 100 + Math.min(often, 99) }];
  });
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_HITS)
    .map(({ page: { path, title, text } }) => {
      const line =
        text.split('\n').find((one) => words.some((word) => one.toLowerCase().includes(word))) ?? '';
      return { path, title, line: line.slice(0, 200) };
    });
}

/** The page at a path of the site; undefined if there is none. */
export function answer(
  pages: ReadonlyMap<string, Page>,
  path: string,
  query: string | null,
): string | undefined {
  if (query !== null) return frame(`Search: ${query}`, hitsOf(search(pages, query)), query);
  const wanted = path === '/' ? INDEX : decodeURIComponent(path).slice(1);
  const page = pages.get(wanted) ?? pages.get(posix.join(wanted, 'README.md'));
  return page && frame(page.title, page.html + (page.path === INDEX ? othersOf(pages, page) : ''), '');
}

/** Pages that the index does not lead to. */
function othersOf(pages: ReadonlyMap<string, Page>, index: Page): string {
  const led = new Set(index.links.map((link) => posix.join('docs', link.split('#')[0]!)));
  const others = [...pages.values()].filter(({ path }) => path.startsWith('docs/') && !led.has(path));
  const items = others.map(({ path, title }) => `<li><a href="/${path}">${escapeHtml(title)}</a></li>`);
  return `<ul>${items.join('\n')}</ul>`;
}

const hitsOf = (hits: readonly Hit[]) =>
  hits.length === 0
    ? '<p>Nothing was found.</p>'
    : hits
        .map(
          ({ path, title, line }) =>
            `<p><a href="/${path}">${escapeHtml(title)}</a> <small>${path}</small><br>${escapeHtml(line)}</p>`,
        )
        .join('\n');

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color-scheme:light dark}' +
  'pre{overflow:auto;padding:.8rem;background:#8882}code{font-size:.9em}table{border-collapse:collapse;display:block;overflow:auto}' +
  'td,th{border:1px solid #8886;padding:.3rem .6rem;text-align:left;vertical-align:top}nav{display:flex;gap:1rem;margin-bottom:1rem}';

const frame = (title: string, body: string, query: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><nav><a href="/">Documentation</a>` +
  `<form action="/search"><input type="search" name="q" aria-label="Search" placeholder="Search" value="${escapeHtml(query)}"></form></nav>` +
  `<main>${body}</main></body></html>`;
