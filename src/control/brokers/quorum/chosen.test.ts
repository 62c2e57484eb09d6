import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Charter, CharterNode, DynamicQuorum } from '../model/charter.ts';
import { bootstrapServers, chosenQuorum, controllersAnnotation, formatFlag, knowsTooFew } from './chosen.ts';

const kafkaWith = (quorum?: string) =>
  ({ metadata: { name: 'events', namespace: 'kafka', labels: {}, annotations: quorum === undefined ? {} : { 'isthmus.dev/quorum': quorum } } }) as unknown as Kafka; // prettier-ignore
const node = (id: number, more: Partial<CharterNode> = {}): CharterNode => ({ id, pool: 'dual', target: 'local', roles: ['controller', 'broker'], leaving: false, formatted: [], ...more }); // prettier-ignore
const NEW: Charter = { clusterId: 'MkU3OEVBNTcwNTJENDM2Qg', epoch: 1, nodes: [], targets: {}, hostPorts: {}, addresses: {}, names: {} }; // prettier-ignore
const choose = (quorum: string | undefined, nodes: CharterNode[], charter = NEW) =>
  chosenQuorum({ kafka: kafkaWith(quorum), charter, nodes, network: undefined, targets: {} });
const messages = ({ faults }: { faults: { message: string }[] }) =>
  faults.map(({ message }) => message).join();

suite('the quorum of a Kafka', () => {
  const three = [0, 1, 2].map((id) => node(id));
  const made = choose('dynamic', three);
  const quorum = made.quorum as DynamicQuorum;
  const run: Charter = { ...NEW, nodes: three.map((one) => ({ ...one, formatted: ['data'] })), quorum };

  test('is static where nobody says otherwise', () => {
    assert.deepEqual(choose(undefined, three), { quorum: 'static', ofCluster: undefined, faults: [] });
    assert.deepEqual(choose('static', three).quorum, 'static');
    assert.match(messages(choose('dynamc', three)), /"dynamc" is not known; use one of static, dynamic/);
  });

  test('that is dynamic begins with all controllers, and with ids of disks that are known before', () => {
    assert.deepEqual(quorum.initial.map(({ id, used }) => [id, used]), [[0, false], [1, false], [2, false]]); // prettier-ignore
    assert.equal(new Set(quorum.initial.map(({ directoryId }) => directoryId)).size, 3);
    for (const { directoryId } of quorum.initial) assert.match(directoryId, /^[A-Za-z0-9_-]{22}$/);
    assert.deepEqual(choose('dynamic', three).quorum, quorum, 'the same each time');
    assert.notDeepEqual(choose('dynamic', three, { ...NEW, clusterId: 'x' }).quorum, quorum);
    const [host0] = quorum.initial.map(({ host }) => host);
    assert.equal(host0, 'events-dual-0.events-kafka-brokers.kafka.svc');
    assert.equal(
      bootstrapServers(made.ofCluster!),
      [0, 1, 2].map((id) => `events-dual-${id}.events-kafka-brokers.kafka.svc:9090`).join(),
    );
  });

  test('formats first voters with all of them, and everybody else as one that joins', () => {
    const later = choose('dynamic', [...three, node(3)], { ...run, quorum: { initial: quorum.initial.map((one) => ({ ...one, used: one.id === 2 })) } }); // prettier-ignore
    const list = quorum.initial
      .map(({ id, host, directoryId }) => `${id}@${host}:9090:${directoryId}`)
      .join();
    assert.equal(formatFlag(later.ofCluster!, 0), `--initial-controllers=${list}`);
    assert.equal(formatFlag(later.ofCluster!, 2), '--no-initial-controllers', 'its disk was in use');
    assert.equal(formatFlag(later.ofCluster!, 3), '--no-initial-controllers');
  });

  test('cannot be changed later', () => {
    assert.match(messages(choose('static', three, run)), /put isthmus.dev\/quorum: dynamic back/);
    assert.match(messages(choose(undefined, three, run)), /put isthmus.dev\/quorum: dynamic back/);
    assert.match(messages(choose('dynamic', three, { ...run, quorum: 'static' })), /make a new Kafka with/);
    assert.deepEqual(choose('dynamic', three, run).faults, []);
  });

  test('keeps its first controllers until one of them was ready', () => {
    const unready = { ...run, nodes: three };
    assert.match(
      messages(choose('dynamic', [...three, node(3)], unready)),
      /begins with controllers 0, 1, 2/,
    );
    assert.deepEqual(choose('dynamic', [...three, node(3)], run).faults, []);
  });

  test('has nodes restarted only where too few of the controllers that they know stay', () => {
    const annotations = controllersAnnotation(made.ofCluster);
    const after = (...nodes: CharterNode[]) => choose('dynamic', nodes, run).ofCluster;
    const [zero, one, two] = three as [CharterNode, CharterNode, CharterNode];
    const leaving = (some: CharterNode) => ({ ...some, leaving: true });
    assert.equal(knowsTooFew(after(leaving(zero), one, two, node(3)), annotations), false);
    assert.equal(knowsTooFew(after(leaving(zero), leaving(one), two, node(3)), annotations), true);
    assert.equal(knowsTooFew(after(two), annotations), false, 'it knows the only one');
    assert.equal(knowsTooFew(after(leaving(zero), leaving(one), leaving(two), node(3)), annotations), true);
    assert.equal(knowsTooFew(undefined, annotations), false);
    assert.equal(knowsTooFew(after(...three), {}), false, 'of a pod that does not say it nothing is known');
  });
});
