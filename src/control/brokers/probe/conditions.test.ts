/** What probes from several places amount to, and what is known of who is kept out. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { ToldListener } from '../expose/told.ts';
import { outsideConditions } from './conditions.ts';
import type { SeenOutside } from './conditions.ts';
import { verdictOf } from './verdict.ts';

const TOLD = { node: 1, host: '1.kafka.example.com', port: 30_001, expected: ['192.0.2.1'] };
const LISTENER: ToldListener = {
  name: 'ext',
  tls: true,
  authentication: 'none',
  isNamed: true,
  endpoints: [TOLD],
};
const LIMITED: ToldListener = { ...LISTENER, sources: { allowed: ['198.51.100.0/24'], by: 'hostport' } };
const REACHED = verdictOf(LISTENER, TOLD, {
  host: TOLD.host,
  port: TOLD.port,
  resolveMs: 1,
  addresses: [{ address: '192.0.2.1', passed: [{ step: 'connect', ms: 1 }] }],
});
const SEEN: SeenOutside = { listeners: [LISTENER], verdicts: [REACHED], publisher: 'up to date' };
const from = (name: string, more: Partial<SeenFrom> = {}): SeenFrom => ({
  name,
  reached: 1,
  unreached: 0,
  endpoints: [],
  ...more,
});
const of = (more: Partial<SeenOutside>, type: string) =>
  outsideConditions({ ...SEEN, ...more }).find((one) => one.type === type);

suite('what is seen from other clusters', () => {
  test('is said to be seen from there', () => {
    const vantages = [from('east'), from('west', { problem: 'it is not joined', reached: 0 })];
    const reachable = of({ vantages }, 'Reachable')!;
    assert.deepEqual([reachable.status, reachable.message], ['True', 'seen from this cluster, east; nobody could look from west: it is not joined']); // prettier-ignore
    assert.equal(of({}, 'Reachable')!.message, '');
  });

  test('a firewall that only they meet', () => {
    const endpoints = [
      { name: 'ext-1', failed: 'connect' as const, problem: 'no connection within 5000 ms' },
    ];
    const vantages = [from('east', { reached: 0, unreached: 3, endpoints })];
    const reachable = of({ vantages }, 'Reachable')!;
    assert.deepEqual([reachable.status, reachable.reason], ['False', 'BrokersUnreachable']);
    assert.equal(reachable.message, 'from east: ext-1 (1.kafka.example.com:30001): connect: no connection within 5000 ms; from east: 2 more'); // prettier-ignore
    assert.equal(of({ vantages }, 'DNSPropagated')!.status, 'True');
  });

  test('names that are other ones there', () => {
    const endpoints = [{ name: 'ext-1', failed: 'resolve' as const, problem: 'x', answered: ['10.0.0.1'] }];
    const vantages = [from('east', { unreached: 1, endpoints })];
    const dns = of({ vantages }, 'DNSPropagated')!;
    assert.equal(dns.status, 'False');
    assert.match(dns.message, /^from east: ext-1 \(1\.kafka\.example\.com:30001\): it leads to 10\.0\.0\.1 and should lead to 192\.0\.2\.1; /); // prettier-ignore
    assert.equal(of({ vantages }, 'Reachable')!.status, 'True', 'a broker answers there all the same');
    const none = [from('east', { unreached: 1, endpoints: [{ name: 'ext-1', failed: 'resolve', problem: 'NXDOMAIN' }] })]; // prettier-ignore
    assert.equal(of({ vantages: none }, 'Reachable')!.status, 'False');
    assert.match(of({ vantages: none }, 'DNSPropagated')!.message, /NXDOMAIN/);
  });

  test('what clients are no longer told is of the past', () => {
    const endpoints = [{ name: 'ext-9', failed: 'connect' as const, problem: 'x' }];
    assert.equal(of({ vantages: [from('east', { unreached: 1, endpoints })] }, 'Reachable')!.status, 'True');
  });
});

suite('who is kept out', () => {
  const tried = (connected: boolean, name = 'ext') => from('east', { sources: [{ name, connected }] });
  const keptOut = (place = 'east', name = 'ext') =>
    from(place, { sources: [{ name, connected: false, proven: true }] });
  const sources = (more: Partial<SeenOutside>) => of({ listeners: [LIMITED], ...more }, 'SourcesEnforced');

  test('nothing is said where everybody may connect', () => {
    assert.equal(of({}, 'SourcesEnforced'), undefined);
  });

  test('nothing is known while nobody has tried', () => {
    for (const vantages of [[], [from('east')], [tried(false, 'another')]]) {
      const found = sources({ vantages })!;
      assert.deepEqual([found.status, found.reason], ['Unknown', 'SourcesUntested']);
      assert.match(found.message, /^listener "ext": nobody has tried .*--probe-from/);
    }
  });

  test('who tried in vain while somebody else got through shows that it is so, who got in that it is not', () => {
    assert.deepEqual([sources({ vantages: [keptOut()] })!.status, sources({ vantages: [keptOut()] })!.message], ['True', 'no connection came about from east']); // prettier-ignore
    const open = sources({ vantages: [tried(true)] })!;
    assert.deepEqual([open.status, open.reason], ['False', 'ForbiddenSourceConnected']);
    assert.match(open.message, /^listener "ext": from east a connection came about, though neither the pod there nor its node is in allowedSources/); // prettier-ignore
  });

  test('who tried in vain while nobody got through shows nothing: brokers may be down', () => {
    const down = sources({ vantages: [tried(false)] })!;
    assert.deepEqual([down.status, down.reason], ['Unknown', 'SourcesUntested']);
    assert.match(down.message, /^listener "ext": no connection came about from east, but nobody who may connect is known to have got through/); // prettier-ignore
    const both = sources({ vantages: [tried(false), keptOut('west')] })!;
    assert.deepEqual([both.status, both.message], ['True', 'no connection came about from west']);
    const passed = from('north', { sources: [{ name: 'ext', connected: true }] });
    assert.equal(sources({ vantages: [keptOut(), passed] })!.status, 'False');
  });

  test('each listener is to be tried, and is to be open', () => {
    const other = { ...LIMITED, name: 'other' };
    const status = (...vantages: SeenFrom[]) => sources({ listeners: [LIMITED, other], vantages })!.status;
    assert.equal(status(keptOut()), 'Unknown');
    assert.equal(status(keptOut(), tried(false, 'other')), 'Unknown');
    assert.equal(status(keptOut(), keptOut('west', 'other')), 'True');
    assert.equal(status(keptOut(), tried(true, 'other')), 'False');
    assert.equal(status(keptOut(), keptOut('west', 'gone')), 'Unknown');
  });

  test('without NetworkPolicies nobody is, by a host port', () => {
    assert.match(sources({ withoutPolicies: true })!.message, /NetworkPolicies are switched off/);
    const balanced = { ...LIMITED, sources: { ...LIMITED.sources!, by: 'loadbalancer' as const } };
    assert.equal(sources({ listeners: [balanced], withoutPolicies: true })!.status, 'Unknown');
  });
});
