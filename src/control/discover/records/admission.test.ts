import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { namePolicy } from '../../../resources/isthmus/name-policy.ts';
import type { NamePolicy } from '../../../resources/isthmus/name-policy.ts';
import { parseAs } from '../../../resources/parse.ts';
import { createAdmissions } from './admission.ts';
import type { Admission, AdmissionOptions, Admitted } from './admission.ts';
import type { DnsRecord } from './dns-record.ts';

function policy(spec: object): NamePolicy {
  const metadata = { name: 'team-a' };
  const document = { apiVersion: 'isthmus.dev/v1alpha1', kind: 'NamePolicy', metadata, spec };
  const parsed = parseAs(namePolicy, document);
  assert.ok(parsed.ok);
  return parsed.resource;
}

const claimOf = (source: string, namespace: string, ...names: string[]): Admission => ({
  source,
  claimGroup: source,
  owner: { namespace },
  result: { records: names.map((name): DnsRecord => ({ name, type: 'A', data: '192.0.2.1' })), problems: [] },
});

function setup(spec: object, options: AdmissionOptions = {}) {
  const admissions = createAdmissions({ policies: () => ({ policies: [policy(spec)] }), ...options });
  admissions.reload();
  const admit = (one: Admission): Admitted => {
    const steps = admissions.admit(one);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };
  const names = (one: Admission) => admit(one).records.map(({ name }) => name);
  return { admissions, admit, names };
}

suite('admission', () => {
  const zone = 'example.test';
  const namespaces = { matchLabels: { team: 'a' } };
  const labelsOf = (namespace: string) => (namespace.startsWith('a') ? { team: 'a' } : {});

  test('a closed zone takes names of those who are selected, and tells the others which policy is missing', () => {
    const { admit } = setup({ zone, namespaces }, { labelsOf });
    assert.equal(admit(claimOf('one', 'a1', 'x.example.test')).records.length, 1);
    const { records, notes } = admit(claimOf('two', 'b', 'x.example.test', 'x.elsewhere.test'));
    assert.deepEqual(
      records.map(({ name }) => name),
      ['x.elsewhere.test'],
    );
    assert.deepEqual(
      notes.map(({ reason }) => reason),
      ['NameNotAllowed'],
    );
    assert.match(notes[0]!.note, /NamePolicy .* namespace "b"/);
  });

  test('a wildcard and a delegation need a policy, also in a zone that has none', () => {
    const open = setup({ zone: 'closed.test' });
    const wild = claimOf('one', 'a', '*.example.test', 'x.example.test');
    assert.deepEqual(open.names(wild), ['x.example.test']);
    assert.match(open.admit(wild).notes[0]!.note, /^\*\.example\.test is a wildcard, .* wildcards: true/);
    const cut: DnsRecord = { name: 'cut.example.test', type: 'NS', data: 'ns.test' };
    const delegated = { ...claimOf('two', 'a'), result: { records: [cut], problems: [] } };
    assert.deepEqual(open.names(delegated), []);
    assert.match(open.admit(delegated).notes[0]!.note, /is delegated, .* delegations: true/);
    const allowed = setup({ zone, namespaces: {}, wildcards: true, delegations: true });
    assert.deepEqual(allowed.names(wild), ['*.example.test', 'x.example.test']);
    assert.deepEqual(allowed.names(delegated), ['cut.example.test']);
  });

  test('a policy that cannot be read closes its zone, and what is granted stays', () => {
    const unreadable = [{ zone, problem: 'NamePolicy "broken" cannot be read' }];
    const { names, admit } = setup(
      {},
      {
        policies: () => ({ policies: [], unreadable }),
        grantsAt: (name) => (name === 'g.example.test' ? [{ kind: 'address', group: 'one', since: '' }] : []),
      },
    );
    const all = ['g.example.test', 'new.example.test', 'x.elsewhere.test'];
    assert.deepEqual(names(claimOf('one', 'a', ...all)), ['g.example.test', 'x.elsewhere.test']);
    assert.deepEqual(names(claimOf('two', 'a', ...all)), ['x.elsewhere.test']);
    assert.match(admit(claimOf('two', 'a', ...all)).notes[0]!.note, /NamePolicy "broken" cannot be read/);
    const cut: DnsRecord = { name: 'g.example.test', type: 'NS', data: 'ns.test' };
    const more = { ...claimOf('one', 'a'), result: { records: [cut], problems: [] } };
    assert.deepEqual(names(more), [], 'an address that was granted is no delegation');
  });

  test('a name without records is not held either', () => {
    const { admit } = setup({ zone, namespaces }, { labelsOf });
    const held = (namespace: string) =>
      admit({ ...claimOf('s', namespace), result: { records: [], problems: [], names: ['x.example.test'] } });
    assert.deepEqual(held('a').names, ['x.example.test']);
    assert.deepEqual([held('b').names, held('b').notes.length], [[], 1]);
  });

  test('so many records an object', () => {
    const { names } = setup({ zone, namespaces: {}, limits: { recordsPerObject: 2 } });
    const one = claimOf('one', 'a', 'x.example.test', 'y.example.test', 'z.example.test', 'x.elsewhere.test');
    assert.deepEqual(names(one), ['x.example.test', 'y.example.test', 'x.elsewhere.test']);
    assert.deepEqual(names(claimOf('two', 'a', 'z.example.test')), ['z.example.test']);
  });

  test('so many names a namespace; who waits hears of room, and what is granted stays', () => {
    const granted = new Set(['g.example.test']);
    const { names, admissions } = setup(
      { zone, namespaces: {}, limits: { namesPerNamespace: 2 } },
      { grantsAt: (name) => (granted.has(name) ? [{ kind: 'address', group: 'four', since: '' }] : []) },
    );
    assert.deepEqual(names(claimOf('one', 'a', 'x.example.test', 'y.example.test')).length, 2);
    assert.deepEqual(
      names(claimOf('two', 'a', 'x.example.test')),
      ['x.example.test'],
      'it is counted already',
    );
    assert.deepEqual(names(claimOf('three', 'a', 'z.example.test')), []);
    assert.deepEqual(names(claimOf('other', 'b', 'z.example.test')), ['z.example.test']);
    assert.deepEqual(names(claimOf('four', 'a', 'g.example.test')), ['g.example.test']);
    assert.deepEqual(admissions.takeFreed(), []);
    admissions.forget('four');
    admissions.forget('one');
    assert.deepEqual(admissions.takeFreed(), ['three']);
    assert.deepEqual(names(claimOf('three', 'a', 'z.example.test')), ['z.example.test']);
  });
});
