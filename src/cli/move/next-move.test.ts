import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { KafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { nextMove } from './next-move.ts';
import type { MoveSight, MoveStep } from './next-move.ts';

const WISH = { name: 'hub', to: 'east', successor: 'hub-east' };

function poolWith(name: string, spec: object = {}, annotations: Record<string, string> = {}, labels = {}) {
  const metadata = {
    name,
    namespace: 'kafka',
    labels: { 'strimzi.io/cluster': 'events', ...labels },
    annotations,
  };
  const object = { apiVersion: 'kafka.strimzi.io/v1', kind: 'KafkaNodePool', metadata, spec: { replicas: 2, roles: ['broker'], ...spec } }; // prettier-ignore
  return { object: object as AnyObject, read: object as unknown as KafkaNodePool };
}
const nodes = (pool: string, ...ids: number[]) => ids.map((id) => ({ id, pool }));
const anchorWith = (spec: object = {}) =>
  ({ spec: { network: 'isthmus', targets: [{ name: 'local', networkId: 'hub' }], nodes: nodes('hub', 0, 1), ...spec } }) as unknown as KafkaAnchor; // prettier-ignore
const kafkaWith = (...conditions: object[]) => ({ apiVersion: 'x', kind: 'Kafka', metadata: { name: 'events' }, status: { conditions } }) as unknown as AnyObject; // prettier-ignore
const REFUSED = { type: 'Accepted', status: 'False', reason: 'UnknownCluster', message: 'no' };
const HUB = poolWith('hub');
const EAST = poolWith('hub-east', { cluster: 'east' }, { 'isthmus.dev/moved-from': 'hub' }).read;
const next = (sight: Partial<MoveSight>) =>
  nextMove(WISH, { pool: HUB, successor: undefined, kafka: kafkaWith(), anchor: anchorWith(), ...sight });
const why = (step: MoveStep) => (step.do === 'refuse' || step.do === 'undo' ? step.why : step.do);

suite('a pool that is moved', () => {
  test('gets one like it elsewhere, without what was about its own nodes', () => {
    const pool = poolWith('hub', { storage: { type: 'ephemeral' }, cluster: 'west' }, { 'strimzi.io/next-node-ids': '[7]', mine: 'yes' }, { 'strimzi.io/cluster-network-id': 'w' }); // prettier-ignore
    const step = next({ pool, anchor: anchorWith({ targets: [{ name: 'east', networkId: 'e-1' }] }) });
    assert.equal(step.do, 'create');
    assert.deepEqual(step.do === 'create' && step.object, {
      apiVersion: 'kafka.strimzi.io/v1',
      kind: 'KafkaNodePool',
      metadata: {
        name: 'hub-east',
        namespace: 'kafka',
        labels: { 'strimzi.io/cluster': 'events', 'strimzi.io/cluster-network-id': 'e-1' },
        annotations: {
          mine: 'yes',
          'strimzi.io/stretch-cluster-alias': 'east',
          'isthmus.dev/moved-from': 'hub',
        },
      },
      spec: { replicas: 2, roles: ['broker'], storage: { type: 'ephemeral' }, cluster: 'east' },
    });
  });

  test('is emptied only when the operator has taken the new one', () => {
    assert.equal(next({ successor: EAST }).do, 'wait');
    assert.deepEqual(next({ successor: EAST, kafka: kafkaWith(REFUSED) }), {
      do: 'undo',
      why: 'UnknownCluster: no',
    });
    const taken = anchorWith({ nodes: [...nodes('hub', 0, 1), ...nodes('hub-east', 2, 3)] });
    assert.equal(next({ successor: EAST, anchor: taken }).do, 'empty');
  });

  test('goes when it has no nodes any more, and is waited for until then', () => {
    const pool = poolWith('hub', { replicas: 0 });
    const draining = kafkaWith({ type: 'Ready', status: 'True', reason: 'Draining', message: '3 partitions are still there' }); // prettier-ignore
    const some = anchorWith({ nodes: [...nodes('hub', 1), ...nodes('hub-east', 2, 3)] });
    assert.deepEqual(next({ pool, successor: EAST, anchor: some, kafka: draining }), { do: 'wait', progress: 'nodes 1 are to go (Draining: 3 partitions are still there)' }); // prettier-ignore
    assert.equal(
      next({ pool, successor: EAST, anchor: anchorWith({ nodes: nodes('hub-east', 2, 3) }) }).do,
      'delete',
    );
    assert.equal(next({ pool: undefined, successor: EAST }).do, 'done');
  });

  test('is refused with what stands in the way', () => {
    assert.match(why(next({ pool: undefined })), /there is no KafkaNodePool hub/);
    assert.match(why(next({ kafka: undefined })), /its Kafka is not here/);
    assert.match(why(next({ anchor: undefined })), /no operator runs it yet/);
    assert.match(why(next({ pool: poolWith('hub', { cluster: 'east' }) })), /is in east already/);
    assert.match(
      why(next({ anchor: anchorWith({ network: undefined }) })),
      /made for one Kubernetes cluster/,
    );
    assert.match(why(next({ pool: poolWith('hub', { replicas: 0 }) })), /has no nodes/);
    assert.match(why(next({ kafka: kafkaWith(REFUSED) })), /has to be cured first: UnknownCluster: no/);
    assert.match(why(next({ successor: poolWith('hub-east', { cluster: 'east' }).read })), /choose another name by --name/); // prettier-ignore
    const pool = poolWith('hub', { roles: ['controller'] });
    assert.match(why(next({ pool })), /isthmus.dev\/quorum: dynamic can move controllers/);
    assert.equal(next({ pool, anchor: anchorWith({ quorum: { initial: [] } }) }).do, 'create');
    assert.match(why(nextMove({ ...WISH, to: 'hub' }, { pool: HUB, successor: undefined, kafka: kafkaWith(), anchor: anchorWith() })), /is in hub already/); // prettier-ignore
  });

  test('never has fewer nodes than it had, whoever runs the command how often, and ends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('command', 'operator', 'drained'), { maxLength: 60, size: 'max' }),
        (turns) => {
          let pool: MoveSight['pool'] = HUB;
          let successor: KafkaNodePool | undefined;
          let written = nodes('hub', 0, 1);
          const turn = (who: string) => {
            if (who === 'operator' && successor && !written.some((node) => node.pool === 'hub-east'))
              written = [...written, ...nodes('hub-east', 2, 3)];
            else if (who === 'drained' && pool?.read.spec.replicas === 0) written = nodes('hub-east', 2, 3);
            else if (who === 'command') {
              const step = next({ pool, successor, anchor: anchorWith({ nodes: written }) });
              if (step.do === 'create') successor = EAST;
              else if (step.do === 'empty') pool = poolWith('hub', { replicas: 0 });
              else if (step.do === 'delete') pool = undefined;
              else assert.ok(step.do === 'wait' || step.do === 'done', step.do);
            }
            assert.ok(pool?.read.spec.replicas === 2 || written.some((node) => node.pool === 'hub-east'));
            assert.ok(pool || !written.some((node) => node.pool === 'hub'), 'a pool goes with its nodes');
          };
          turns.forEach(turn);
          for (let round = 0; round < 6; round++) ['command', 'operator', 'drained'].forEach(turn);
          assert.equal(next({ pool, successor, anchor: anchorWith({ nodes: written }) }).do, 'done');
        },
      ),
    );
  });
});
