import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { renderMarkdown } from './markdown.ts';
import { answer, readPages, search } from './site.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = readPages(root);

suite('documentation as a site', () => {
  test('markdown becomes HTML, and nothing in code or text becomes markup', () => {
    const { title, html, anchors, links } = renderMarkdown(
      '# A `b` <c>\n\nOne *two*\nthree **four** [five](six.md#seven), `[x](y)`.\n\n- a\n  b\n- `c`\n\n| h | i |\n|---|---|\n| `1|2` | 3 |\n\n```sh\n# no <heading>\n```\n',
    );
    assert.equal(title, 'A b <c>');
    assert.deepEqual(anchors, ['a-b-c']);
    assert.deepEqual(links, ['six.md#seven']);
    assert.match(html, /<h1 id="a-b-c">A <code>b<\/code> &lt;c&gt;<\/h1>/);
    assert.match(
      html,
      /<p>One <em>two<\/em>\nthree <strong>four<\/strong> <a href="six.md#seven">five<\/a>, <code>/,
    );
    assert.match(html, /<ul><li>a\nb<\/li>\n<li><code>c<\/code><\/li><\/ul>/);
    assert.match(html, /<pre><code># no &lt;heading&gt;<\/code><\/pre>/);
  });

  test('every link leads to a page or file, and to a heading that it has', () => {
    const wrong: string[] = [];
    for (const { path, links } of pages.values())
      for (const link of links.filter((one) => !/^[a-z]+:/.test(one))) {
        const [file = '', anchor] = link.split('#');
        const to = file === '' ? path : posix.join(posix.dirname(path), file);
        const page = pages.get(to);
        if (!page && !existsSync(join(root, to))) wrong.push(`${path}: ${link}`);
        if (page && anchor !== undefined && !page.anchors.includes(anchor)) wrong.push(`${path}: ${link}`);
      }
    assert.deepEqual(wrong, []);
  });

  test('from the index every page of docs is reached', () => {
    const home = answer(pages, '/docs/README.md', null)!;
    for (const path of pages.keys())
      if (path.startsWith('docs/'))
        assert.ok(home.includes(`"/${path}"`) || home.includes(`"${posix.relative('docs', path)}`), path);
  });

  test('a search finds pages by all words, titles first', () => {
    const hits = search(pages, 'stretch clusters');
    assert.ok(hits.some(({ path }) => path === 'docs/stretch.md'));
    assert.equal(search(pages, 'glossary-word-that-is-not-there').length, 0);
    assert.equal(search(pages, 'metrics')[0]!.path, 'docs/reference/metrics.md');
  });

  test('there is a page at the top, and none where there is nothing; what is searched for is no markup', () => {
    assert.match(answer(pages, '/', null)!, /<h1 id="documentation">/);
    assert.match(answer(pages, '/docs/kafka.md', null)!, /<h1/);
    assert.equal(answer(pages, '/docs/none.md', null), undefined);
    assert.doesNotMatch(answer(pages, '/search', '<script>')!, /<script>/);
  });
});
