/** Markdown as the pages of this project are written, as HTML: headings, paragraphs, lists, tables, code. */

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (one) => ESCAPES[one]!);

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

export interface Rendered {
  title: string;
  html: string;
  anchors: string[];
  /** As they are written. */
  links: string[];
}

export function renderMarkdown(text: string): Rendered {
  const rendered: Rendered = { title: '', html: '', anchors: [], links: [] };
  const lines = text.split('\n');
  let at = 0;
  const isNext = (pattern: RegExp) => at < lines.length && pattern.test(lines[at]!);
  const takeWhile = (pattern: RegExp) => {
    const from = at;
    while (isNext(pattern)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    if (isNext(/^\s*$|^<!--.*-->$/)) at += 1;
    else if (isNext(/^```/)) rendered.html += codeOf(takeFence(lines, at, (end) => (at = end)));
    else if (isNext(/^#+ /)) rendered.html += headingOf(lines[at++]!, rendered);
    else if (isNext(/^\|/)) rendered.html += tableOf(takeWhile(/^\|/), rendered);
    else if (isNext(LIST)) rendered.html += listOf(takeWhile(/^(\s*([-*]|\d+\.) |\s+\S)/), rendered);
    else rendered.html += `<p>${inline(takeWhile(PARAGRAPH).join('\n') || lines[at++]!, rendered)}</p>\n`;
  }
  return rendered;
}

const LIST = /^([-*]|\d+\.) /;
const PARAGRAPH = /^(?!```|#+ |\||[-*] |\d+\. |\s*$)/;

function takeFence(lines: readonly string[], at: number, moveTo: (end: number) => void): string[] {
  const end = lines.indexOf('```', at + 1);
  moveTo(end < 0 ? lines.length : end + 1);
  return lines.slice(at + 1, end < 0 ? undefined : end);
}

const codeOf = (lines: readonly string[]) => `<pre><code>${escapeHtml(lines.join('\n'))}</code></pre>\n`;

function headingOf(line: string, rendered: Rendered): string {
  const [, marks, text] = /^(#+) (.*)$/.exec(line)!;
  const plain = text!.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  rendered.title ||= plain;
  const anchor = anchorOf(plain);
  rendered.anchors.push(anchor);
  return `<h${marks!.length} id="${anchor}">${inline(text!, rendered)}</h${marks!.length}>\n`;
}

function tableOf(lines: readonly string[], rendered: Rendered): string {
  const rows = lines.map((line) =>
    line
      .replace(/^\|/, '')
      .replace(/\|\s*$/, '')
      .split(/(?<!\\)\|/),
  );
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell) => `<${tag}>${inline(cell.trim().replaceAll('\\|', '|'), rendered)}</${tag}>`).join('');
  const [head, , ...body] = rows;
  const rest = body.map((row) => `<tr>${cells(row, 'td')}</tr>\n`).join('');
  return `<table><thead><tr>${cells(head!, 'th')}</tr></thead><tbody>\n${rest}</tbody></table>\n`;
}

/** One level; what is indented belongs to the item before it. */
function listOf(lines: readonly string[], rendered: Rendered): string {
  const tag = /^\d/.test(lines[0]!) ? 'ol' : 'ul';
  const items: string[] = [];
  for (const line of lines)
    if (LIST.test(line)) items.push(line.replace(LIST, ''));
    else items[items.length - 1] += `\n${line.trim()}`;
  return `<${tag}>${items.map((item) => `<li>${inline(item, rendered)}</li>`).join('\n')}</${tag}>\n`;
}

/** Code is put aside first: nothing in it means anything. */
function inline(text: string, { links }: Rendered): string {
  const code: string[] = [];
  const aside = text.replaceAll(/`([^`]+)`/g, (_, inside: string) => `\0${code.push(inside) - 1}\0`);
  return marks(aside)
    .replaceAll(LINK, (_, image: string, label: string, to: string) => {
      links.push(to);
      return image ? `<img alt="${label}" src="${to}">` : `<a href="${to}">${label}</a>`;
    })
    .replaceAll(/\0(\d+)\0/g, (_, at: string) => `<code>${escapeHtml(code[Number(at)]!)}</code>`);
}

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

const marks = (text: string) =>
  escapeHtml(text)
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>');
