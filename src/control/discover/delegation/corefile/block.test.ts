import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { delegate, undelegate } from './block.ts';
import { KUBEADM } from '../../../../../test/support/discover/corefile.ts';

const owner = 'isthmus-system/isthmus-dns';
const delegation = { zones: ['xcc.test', 'clusterset.local'], server: '10.96.0.20', owner };

function textOf(edited: ReturnType<typeof delegate>): string {
  if ('problem' in edited) assert.fail(edited.problem);
  return edited.text;
}

function problemOf(corefile: string, zones = delegation.zones): string | undefined {
  const edited = delegate(corefile, { ...delegation, zones });
  return 'problem' in edited ? edited.problem : undefined;
}

/** Corefiles, and things that look like some. */
const piece = fc.constantFrom(
  '. {\n    errors\n}\n',
  'a.test {\n}\n',
  '# a comment\n',
  '# a comment without an end',
  '\n',
  '\r\n',
  'b.test:54 {\n  log\n}\n',
  'c.test {\n}',
  '(snippet) {\n  log\n}\n',
  'import more/*.server\n',
  'd.test {\n  import snippet\n}\n',
  '"e.test" {\n  log "{combined"\n}\n',
  'f.test,\ng.test {\n}\n',
  '.:5353 {\n  cache\n}\n',
  'h.test {\n',
  '}\n',
  '"\n',
  'i.test\n',
);

suite('our block in a Corefile', () => {
  test('is put in, replaced and taken out, and nothing else changes', () => {
    const first = textOf(delegate(KUBEADM, delegation));
    assert.ok(first.startsWith(KUBEADM));
    assert.match(
      first,
      /^xcc\.test:53 \{\n {4}errors\n {4}cache 30 \{\n[^}]*\}\n {4}forward \. 10\.96\.0\.20\n\}/m,
    );
    assert.equal(textOf(delegate(first, delegation)), first, 'twice is once');
    const moved = textOf(delegate(`${first}# by hand\n`, { ...delegation, server: 'fd00::20' }));
    assert.match(moved, /forward \. fd00::20\n/);
    assert.ok(moved.endsWith('# by hand\n'));
    assert.equal(textOf(undelegate(moved, owner)), `${KUBEADM}# by hand\n`);
  });

  test('is on the port of the others, and uses no plugin that they do not', () => {
    const text = textOf(delegate('.:5353 {\n    errors\n}\n', delegation));
    assert.match(text, /^xcc\.test:5353 \{\n {4}errors\n {4}forward/m);
  });

  test('is not put where it would break something', () => {
    assert.match(problemOf('. {')!, /cannot be parsed/);
    assert.match(problemOf(`${KUBEADM}xcc.test {\n    forward . 1.2.3.4\n}\n`)!, /another server block/);
    assert.match(problemOf(`${KUBEADM}### END CROSS CLUSTER CONNECTIVITY\n`)!, /markers/);
    assert.match(
      problemOf('a.test\nlog\n')!,
      /invalid|cannot be appended/,
      'a block without braces goes on to the end',
    );
    assert.match(problemOf(`${KUBEADM}"`)!, /invalid|cannot be appended/, 'so does a quote');
  });

  test('never takes the names of the cluster itself', () => {
    for (const zone of ['cluster.local', 'local', 'in-addr.arpa', 'arpa'])
      assert.match(problemOf(KUBEADM, [zone])!, /would hide/, zone);
    assert.equal(problemOf(KUBEADM, ['xcc.cluster.local']), undefined);
  });

  const rival = { zones: ['other.test'], server: '10.96.0.30', owner: 'other/isthmus-dns' };

  test('of another Isthmus is left alone, whatever is done beside it', () => {
    const theirs = textOf(delegate(KUBEADM, rival));
    assert.match(
      problemOf(theirs, ['other.test'])!,
      /already delegated by another Isthmus, other\/isthmus-dns;/,
    );
    assert.equal(textOf(undelegate(theirs, owner)), theirs);
    const both = textOf(delegate(theirs, delegation));
    assert.ok(both.startsWith(theirs));
    assert.equal(textOf(delegate(both, rival)), both);
    assert.equal(textOf(undelegate(both, owner)), theirs);
    assert.equal(textOf(undelegate(textOf(undelegate(both, rival.owner)), owner)), KUBEADM);
  });

  test('that does not say whose it is is taken over, by the first who comes', () => {
    const nameless = textOf(delegate(KUBEADM, delegation)).replace(`# By ${owner}.\n`, '');
    assert.equal(textOf(delegate(nameless, delegation)), textOf(delegate(KUBEADM, delegation)));
    assert.equal(textOf(undelegate(nameless, owner)), KUBEADM);
    const taken = textOf(delegate(nameless, { ...rival, zones: delegation.zones }));
    assert.match(problemOf(taken)!, /other\/isthmus-dns/);
  });

  test('is named as the first version named it, so that a return to that finds it', () => {
    const lines = textOf(delegate('. {\n}', delegation)).split('\n');
    const begin = lines.indexOf('### BEGIN CROSS CLUSTER CONNECTIVITY');
    assert.equal(lines[begin + 1], '# The line above had no end.');
    assert.equal(lines.indexOf('### END CROSS CLUSTER CONNECTIVITY'), lines.length - 2);
  });

  test('in any Corefile: in and out again gives back what was there, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join('');
        const edited = delegate(text, delegation);
        if ('problem' in edited) return;
        assert.ok(edited.text.startsWith(text));
        assert.equal(textOf(delegate(edited.text, delegation)), edited.text, 'twice is once');
        assert.equal(textOf(undelegate(edited.text, owner)), text);
      }),
      { numRuns: 500 },
    );
  });

  test('in any Corefile, beside that of another Isthmus: in and out again gives back what was there', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), fc.array(piece, { maxLength: 2 }), (pieces, more) => {
        const theirs = delegate(pieces.join(''), rival);
        if ('problem' in theirs) return;
        const text = theirs.text + more.join('');
        const edited = delegate(text, delegation);
        if ('problem' in edited) return;
        assert.ok(edited.text.startsWith(text));
        assert.equal(textOf(undelegate(edited.text, owner)), text);
        assert.equal(textOf(delegate(edited.text, delegation)), edited.text);
      }),
      { numRuns: 500 },
    );
  });

  test('wherever it is: nothing around it changes when it does', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), fc.array(piece, { maxLength: 4 }), (before, after) => {
        const block = '### BEGIN CROSS CLUSTER CONNECTIVITY\nold\n### END CROSS CLUSTER CONNECTIVITY\n';
        const head = before.join('');
        fc.pre(head === '' || head.endsWith('\n'));
        const edited = delegate(head + block + after.join(''), delegation);
        if ('problem' in edited) return;
        assert.ok(edited.text.startsWith(`${head}### BEGIN`));
        assert.ok(edited.text.endsWith(`### END CROSS CLUSTER CONNECTIVITY\n${after.join('')}`));
      }),
      { numRuns: 500 },
    );
  });
});
