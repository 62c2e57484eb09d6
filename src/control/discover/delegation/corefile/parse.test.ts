import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { normalKey, parseCorefile } from './parse.ts';
import { KUBEADM } from '../../../../../test/support/discover/corefile.ts';

/** The Corefiles themselves are held against a real CoreDNS in test/integration/discover. */
suite('a Corefile', () => {
  test('is read: server blocks and their plugins', () => {
    const parsed = parseCorefile(KUBEADM);
    assert.ok('blocks' in parsed);
    assert.deepEqual(parsed.blocks[0]?.keys, ['.:53']);
    const names = 'errors health ready kubernetes prometheus forward cache loop reload loadbalance';
    assert.deepEqual(
      parsed.blocks[0].plugins.map(({ name }) => name),
      names.split(' '),
    );
    const kubernetes = parsed.blocks[0].plugins[3];
    assert.deepEqual(kubernetes?.args.slice(0, 4), ['cluster.local', 'in-addr.arpa', 'ip6.arpa', '{']);
  });

  test('may import files and snippets', () => {
    const parsed = parseCorefile(
      '(snip) {\n log\n}\n. {\n import snip\n import /a/*.override\n}\nimport b/*.server',
    );
    assert.ok('blocks' in parsed);
    assert.deepEqual(parsed, {
      blocks: [{ keys: ['.'], plugins: [{ name: 'log', args: [] }] }],
      imports: ['/a/*.override', 'b/*.server'],
    });
  });

  test('with a problem says in which line', () => {
    const problem = (text: string) => {
      const parsed = parseCorefile(text);
      return 'problem' in parsed ? parsed.problem : undefined;
    };
    assert.match(problem('. {\n log\n')!, /^line 1: .*never closed/);
    assert.match(problem('. {\n}\na.test {\n log }\n}')!, /^line 4: /);
    assert.match(problem('a.test {\n}\na.test:53 {\n}')!, /two server blocks for a\.test\.:53/);
    assert.match(problem('(a) {\n import a\n}')!, /imports itself/);
  });

  test('that imports without end is too much', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `(s${i + 1}) {\n import s${i}\n import s${i}\n}\n`);
    const parsed = parseCorefile(`(s0) {\n log\n}\n${lines.join('')}. {\n import s40\n}\n`);
    assert.ok(
      'problem' in parsed && parsed.problem.includes('too much'),
      JSON.stringify(parsed).slice(0, 200),
    );
  });

  test('has keys that mean the same', () => {
    for (const key of ['a.test', 'A.test.', 'a.test:53', 'dns://a.test', 'dns://a.test.:053'])
      assert.equal(normalKey(key), 'a.test.:53');
    assert.notEqual(normalKey('tls://a.test:53'), normalKey('a.test:53'));
  });
});
