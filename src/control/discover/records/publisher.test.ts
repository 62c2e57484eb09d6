import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Notice } from '../../../kube/write/events.ts';
import { createLog } from '../../../ops/log.ts';
import { createPublisher } from './publisher.ts';
import type { DnsRecord } from './dns-record.ts';
import { service } from '../../../../test/support/discover/objects.ts';

function setup(reserved: string[] = []) {
  const configured = { zones: ['test'], names: () => reserved, subscribe: () => () => {} };
  const served = new Map<string, readonly DnsRecord[]>();
  const notices: (Notice & { about: string })[] = [];
  const publisher = createPublisher({
    configured,
    sink: {
      upsert(source, records) {
        served.set(source, records);
        // As the DNS server does it: an alias cannot stand beside anything else.
        const others = [...served].some(([other, theirs]) => other !== source && theirs.length > 0);
        const aliases = others ? records.filter(({ type }) => type === 'CNAME') : [];
        return aliases.map((record) => ({ record, reason: 'it has other records' }));
      },
      setReady() {},
    },
    events: {
      record: (object, notice) => void notices.push({ ...notice, about: object.metadata.name }),
      flush: async () => {},
      stop: async () => {},
    },
    log: createLog('silent'),
  });
  const set = async (name: string, since: string, record: DnsRecord, problems: string[] = []) => {
    const object = service({}, { name });
    const source = `Service default/${name}`;
    const result = { records: [record], problems };
    await publisher.publish(source, [
      { source, claimGroup: source, object, since, result, reason: 'NameInvalid' },
    ]);
  };
  return { publisher, served, notices, set };
}

const address: DnsRecord = { name: 'x.test', type: 'A', data: '192.0.2.1' };
const alias: DnsRecord = { name: 'x.test', type: 'CNAME', data: 'y.test' };

suite('publisher', () => {
  test('tells the loser once, and again when it has lost to another', async () => {
    const { notices, set, publisher } = setup();
    await set('old', '2020', address);
    await set('new', '2021', address);
    await set('new', '2021', address);
    assert.deepEqual(
      notices.map(({ about, reason, note }) => [about, reason, note]),
      [['new', 'NameTaken', 'x.test belongs to Service default/old, which had it first']],
    );
    assert.equal(publisher.refusedObjects, 1);
    await publisher.publish('Service default/old', []);
    assert.equal(publisher.refusedObjects, 0);
    await set('old', '2020', address);
    assert.deepEqual(
      notices.slice(1).map(({ about, note }) => [about, note]),
      [['old', 'x.test belongs to Service default/new, which had it first']],
    );
  });

  test('an alias takes the place of an address without a word about what stood in its way', async () => {
    const { notices, set, served } = setup();
    await set('one', '2021', address);
    await set('one', '2021', alias);
    assert.deepEqual(served.get('Service default/one'), [alias]);
    assert.deepEqual(notices, []);
  });

  test('an object with very many faults is told of some of them, and how many more there are', async () => {
    const { notices, set, publisher } = setup();
    const faults = (first: string) => [first, ...Array.from({ length: 5000 }, (_, i) => `fault ${i}`)];
    await set('wild', '2020', address, faults('a'));
    assert.equal(notices.length, 21);
    assert.equal(notices.at(-1)?.note, 'and 4981 more names');
    assert.equal(publisher.refusedObjects, 1);
    await set('wild', '2020', address, faults('a'));
    assert.equal(notices.length, 21, 'once');
    await set('wild', '2020', address, faults('b'));
    assert.equal(notices.length, 42);
  });

  test('what the configuration has is refused to everybody, until it has it no longer', async () => {
    const reserved = ['x.test'];
    const { notices, set, served, publisher } = setup(reserved);
    await set('thief', '2020', address);
    assert.deepEqual(served.get('Service default/thief'), []);
    assert.deepEqual(
      notices.map(({ reason, note }) => [reason, note]),
      [['NameReserved', "x.test is reserved: x.test is in the DNS server's own configuration"]],
    );
    assert.equal(publisher.refusedObjects, 1);
    reserved.pop();
    await publisher.reconsider();
    assert.deepEqual(served.get('Service default/thief'), [address]);
    assert.equal(publisher.refusedObjects, 0);
  });

  test('an object with very many records is served in parts, and whole: no name moves from one to another', async () => {
    const { publisher, served } = setup();
    const object = service({}, { name: 'many' });
    const source = 'DNSEndpoint default/many';
    const publish = async (count: number) => {
      const records = Array.from({ length: count }, (_, i) => ({ ...address, name: `n${i}.test` }));
      const entry = { source, claimGroup: source, object, since: '', reason: 'NameInvalid' };
      await publisher.publish(source, [{ ...entry, result: { records, problems: [] } }]);
      const names = [...served.values()].flat().map(({ name }) => name);
      assert.deepEqual(names.toSorted(), records.map(({ name }) => name).toSorted());
      return new Map([...served].flatMap(([part, own]) => own.map(({ name }) => [name, part])));
    };
    await publish(10);
    const before = await publish(4000);
    assert.ok([...served.values()].every(({ length }) => length <= 220));
    for (const [name, part] of await publish(3000)) assert.equal(part, before.get(name));
    await publish(10);
    await publish(0);
  });

  test('a malformed name is an event', async () => {
    const { notices, set } = setup();
    await set('bad', '2020', address, ['"a b" is not a host name']);
    assert.deepEqual(
      notices.map(({ reason, note }) => [reason, note]),
      [['NameInvalid', '"a b" is not a host name']],
    );
  });
});
