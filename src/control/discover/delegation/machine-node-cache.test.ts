import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  COREFILE,
  MINUTE,
  NODE_COREFILE,
  SECOND,
  VERIFY_MS,
  simulate,
} from '../../../../test/support/discover/delegation-machine.ts';

suite('with a cache on the nodes, the delegation machine', () => {
  const platforms = (site: ReturnType<typeof simulate>) =>
    site.statuses.map(({ state, platform }) => `${state} ${platform}`);

  test('delegates in the cluster, then in the cache, and asks what pods ask', () => {
    const site = simulate({ nodeCache: NODE_COREFILE });
    site.pass(5 * SECOND);
    assert.deepEqual(platforms(site).slice(0, 3), [
      'verifying corefile',
      'verifying node-local-dns',
      'delegated corefile',
    ]);
    assert.match(site.world.nodeCache!, /xcc\.test:53 \{\n {4}bind 169\.254\.20\.10\n {4}forward \. 10/);
    const asked = site.steps.flatMap(({ step }) => (step.do === 'probe' ? [step.dnsAddresses.join()] : []));
    assert.deepEqual(new Set(asked), new Set(['10.96.0.10', '169.254.20.10', '10.96.0.10,169.254.20.10']));
  });

  test('undoes in the cache what never worked there, and leaves the cluster as it is', () => {
    const site = simulate({ nodeCache: NODE_COREFILE });
    site.world.nodesWork = false;
    site.pass(VERIFY_MS + 5 * SECOND);
    assert.equal(platforms(site).at(-1), 'failed node-local-dns');
    assert.match(
      site.statuses.at(-1)!.reason,
      /^pods ask 169\.254\.20\.10, which answers: SERVFAIL; the del/,
    );
    assert.equal(site.world.nodeCache, NODE_COREFILE);
    assert.match(site.world.corefile, /xcc\.test/);
  });

  test('of a new leader removes only what an earlier one did not see work', () => {
    const first = simulate({ nodeCache: NODE_COREFILE });
    first.world.nodesWork = false;
    first.pass(5 * SECOND);
    assert.equal(platforms(first).at(-1), 'verifying node-local-dns');
    const second = simulate({ nodeCache: first.world.nodeCache!, last: first.statuses.at(-1)! });
    second.world.corefile = first.world.corefile;
    second.world.nodesWork = false;
    second.pass(VERIFY_MS);
    assert.equal(platforms(second).at(-1), 'failed node-local-dns');
    assert.deepEqual([second.world.nodeCache, second.world.corefile], [NODE_COREFILE, first.world.corefile]);
  });

  test('does not undo the cluster’s part where the cache answers in its place', () => {
    const site = simulate({ nodeCache: NODE_COREFILE });
    site.world.podDns = site.world.dnsAddress;
    site.pass(5 * SECOND);
    assert.deepEqual(platforms(site), ['verifying node-local-dns', 'delegated corefile']);
  });

  test('removes both parts', () => {
    const site = simulate({ nodeCache: NODE_COREFILE });
    site.pass(5 * SECOND);
    const removing = simulate({ zones: [], nodeCache: site.world.nodeCache! });
    removing.overwrite(site.world.corefile);
    removing.pass(SECOND);
    assert.deepEqual(removing.states(), ['removed']);
    assert.deepEqual([removing.world.nodeCache, removing.world.corefile], [NODE_COREFILE, COREFILE]);
  });

  test('says so where this is not a pod, and writes nothing there', () => {
    const site = simulate({ nodeCache: NODE_COREFILE });
    site.world.podDns = undefined;
    site.pass(5 * SECOND);
    assert.match(site.statuses.at(-1)!.reason, /podDns/);
    assert.equal(site.world.nodeCache, NODE_COREFILE);
  });
});

suite('without a way to write, the delegation machine', () => {
  test('says what to do, and sees when it is done', () => {
    const site = simulate();
    Object.assign(site.world, { hasCoreDns: false, podDns: '169.254.169.254' });
    site.pass(SECOND);
    assert.deepEqual(site.states(), ['refused']);
    assert.match(site.statuses.at(-1)!.reason, /no CoreDNS.* forward xcc\.test to 10\.96\.0\.20/);
    site.world.corefile = 'xcc.test'; // by somebody else, elsewhere
    site.pass(2 * MINUTE);
    assert.deepEqual(site.states(), ['refused', 'delegated']);
  });

  test('tells of a cache that it does not know', () => {
    const site = simulate();
    Object.assign(site.world, { podDns: '169.254.25.10', nodesWork: false });
    site.pass(5 * SECOND);
    assert.deepEqual(site.states(), ['verifying', 'failing']);
    assert.match(
      site.statuses.at(-1)!.reason,
      /^pods ask 169\.254\.25\.10, .* forward the zones there by hand$/,
    );
    assert.match(site.world.corefile, /xcc\.test/, 'what works is left as it is');
    site.world.nodesWork = true;
    site.pass(MINUTE);
    assert.equal(site.states().at(-1), 'delegated');
  });
});
