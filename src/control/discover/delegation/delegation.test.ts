import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { delegate, undelegate } from './block.ts';
import { parseCorefile } from './corefile.ts';

const KUBEADM = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;
const delegation = { zones: ['xcc.test', 'clusterset.local'], server: '10.96.0.20' };

function textOf(edited: ReturnType<typeof delegate>): string {
  if ('problem' in edited) assert.fail(edited.problem);
  return edited.text;
}

suite('a Corefile', () => {
  test('is read: server blocks and their plugins', () => {
    const parsed = parseCorefile(KUBEADM);
    assert.ok('blocks' in parsed);
    assert.deepEqual(parsed.blocks[0]?.keys, ['.:53']);
    assert.deepEqual(parsed.blocks[0]?.plugins, [
      'errors',
      'health',
      'ready',
      'kubernetes',
      'prometheus',
      'forward',
      'cache',
      'loop',
      'reload',
      'loadbalance',
    ]);
  });

  test('that CoreDNS would refuse is refused', () => {
    for (const bad of ['. {', '. }', '{ errors }', 'a.test', '. { log "x }', 'a.test { }\na.test:53 { }'])
      assert.ok('problem' in parseCorefile(bad), bad);
    for (const good of [
      '',
      '# nothing',
      'import custom/*.server\n. {\n}\nimport more',
      '(snip) {\n log\n}\n. {\n import snip\n}',
      'a.test b.test:54 {\n}',
      '. {\n log . "{combined}"\n}',
    ])
      assert.ok('blocks' in parseCorefile(good), good);
  });
});

suite('our block in it', () => {
  test('is put in, replaced and taken out, and nothing else changes', () => {
    const first = textOf(delegate(KUBEADM, delegation));
    assert.ok(first.startsWith(KUBEADM));
    assert.match(first, /^xcc\.test:53 \{\n {4}errors\n {4}cache 30\n {4}forward \. 10\.96\.0\.20\n/m);
    assert.equal(textOf(delegate(first, delegation)), first, 'twice is once');
    const moved = textOf(delegate(`${first}# by hand\n`, { ...delegation, server: 'fd00::20' }));
    assert.match(moved, /forward \. \[fd00::20\]/);
    assert.ok(moved.endsWith('# by hand\n'));
    assert.equal(textOf(undelegate(moved)), `${KUBEADM}# by hand\n`);
  });

  test('is on the port of the others', () => {
    assert.match(textOf(delegate('.:5353 {\n    errors\n}\n', delegation)), /^xcc\.test:5353 \{/m);
  });

  test('is not put where it would break something', () => {
    assert.ok('problem' in delegate('. {', delegation));
    assert.ok('problem' in delegate(`${KUBEADM}xcc.test {\n    forward . 1.2.3.4\n}\n`, delegation));
    assert.ok('problem' in delegate(`${KUBEADM}### END CROSS CLUSTER CONNECTIVITY\n`, delegation));
  });

  test('in any Corefile: in and out again gives back what was there', () => {
    const line = fc.constantFrom(
      '. {\n    errors\n}\n',
      'a.test {\n}\n',
      '# a comment\n',
      '\n',
      'b.test:54 {\n  log\n}\n',
    );
    fc.assert(
      fc.property(fc.uniqueArray(line), (lines) => {
        const text = lines.join('');
        assert.equal(textOf(undelegate(textOf(delegate(text, delegation)))), text);
      }),
    );
  });
});
