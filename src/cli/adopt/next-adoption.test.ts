import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ADOPT_ANNOTATION } from '../../control/brokers/stretch/adoption.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { nextAdoption } from './next-adoption.ts';
import type { AdoptionSight, AdoptionStep } from './next-adoption.ts';

const ID = 'MkU3OEVBNTcwNTJENDM2Qg';
const OTHER = 'AAAAAAAAAAAAAAAAAAAAAA';

const kafkaWith = (adopt: string | undefined, ...conditions: object[]) => ({ apiVersion: 'x', kind: 'Kafka', metadata: { name: 'events', annotations: adopt === undefined ? {} : { [ADOPT_ANNOTATION]: adopt } }, status: { conditions } }) as unknown as AnyObject; // prettier-ignore
const anchorWith = (spec: object = {}) =>
  ({ spec: { clusterId: ID, epoch: 1, holder: 'isthmus-system', nodes: [{ id: 0 }, { id: 1 }, { id: 2 }], ...spec } }) as unknown as KafkaAnchor; // prettier-ignore
const next = (sight: Partial<AdoptionSight>) =>
  nextAdoption('events', { kafka: kafkaWith(undefined), anchor: undefined, joined: [{ cluster: 'east', anchor: anchorWith() }], ...sight }); // prettier-ignore
const why = (step: AdoptionStep) => (step.do === 'refuse' ? step.why : step.do);
const REFUSED = { type: 'Accepted', status: 'False', reason: 'ClustersPending', message: 'missing: west' };
const READY = { type: 'Ready', status: 'True', reason: 'Ready' };
const PENDING = { type: 'Ready', status: 'False', reason: 'CertificatesPending', message: 'keys' };

suite('a Kafka that is taken over', () => {
  test('is asked for by the cluster id that the others know, and says what is taken over', () => {
    const joined = [{ cluster: 'east', anchor: anchorWith() }, { cluster: 'west', anchor: anchorWith({ epoch: 3, holder: 'later' }) }]; // prettier-ignore
    const progress = `Kafka events (${ID}) is taken over: 3 nodes, known from east, west; run from "later" until now, epoch 3`;
    assert.deepEqual(next({ joined }), { do: 'annotate', clusterId: ID, progress });
    assert.equal(next({ joined, kafka: kafkaWith(OTHER) }).do, 'annotate', 'what was wrong is put right');
    const unseen = [...joined, { cluster: 'north', problem: 'no answer' }];
    assert.equal(next({ joined: unseen }).do, 'annotate', 'the operator waits for it, and says so');
  });

  test('is waited for with what the operator says, until it is ready', () => {
    assert.deepEqual(next({ kafka: kafkaWith(ID) }), { do: 'wait', progress: 'the operator has to see it' });
    assert.deepEqual(next({ kafka: kafkaWith(ID, REFUSED, PENDING) }), { do: 'wait', progress: 'ClustersPending: missing: west' }); // prettier-ignore
    const anchor = anchorWith({ epoch: 2 });
    assert.deepEqual(next({ kafka: kafkaWith(ID, PENDING), anchor, joined: [] }), { do: 'wait', progress: 'CertificatesPending: keys' }); // prettier-ignore
    assert.deepEqual(next({ kafka: kafkaWith(ID, READY), anchor, joined: [] }), { do: 'done' });
    assert.equal(
      next({ kafka: kafkaWith(ID, READY) }).do,
      'wait',
      'ready for an operator that has not seen it',
    );
  });

  test('is refused with what stands in the way', () => {
    assert.match(why(next({ kafka: undefined })), /there is no Kafka events here; apply it first/);
    assert.match(why(next({ anchor: anchorWith() })), /is run from here already/);
    assert.match(why(next({ joined: [] })), /no cluster is joined/);
    const joined = [{ cluster: 'east' }, { cluster: 'west', problem: 'no answer' }];
    assert.match(why(next({ joined })), /there is no KafkaAnchor events in east; nobody could look into west \(no answer\)/); // prettier-ignore
    const two = [{ cluster: 'east', anchor: anchorWith() }, { cluster: 'west', anchor: anchorWith({ clusterId: OTHER }) }]; // prettier-ignore
    assert.match(
      why(next({ joined: two })),
      new RegExp(`in east of the cluster id ${ID}, in west of ${OTHER}`),
    );
  });

  test('is annotated once, whoever runs the command how often, and ends', () => {
    const turns = fc.array(fc.constantFrom('command', 'operator', 'ready'), { maxLength: 30 });
    fc.assert(
      fc.property(turns, (all) => {
        let adopt: string | undefined;
        let anchor: KafkaAnchor | undefined;
        let isReady = false;
        let written = 0;
        const kafka = () => kafkaWith(adopt, isReady ? READY : PENDING);
        const turn = (who: string) => {
          if (who === 'operator' && adopt === ID) anchor = anchorWith({ epoch: 2 });
          else if (who === 'ready') isReady = anchor !== undefined;
          else if (who === 'command') {
            const step = next({ kafka: kafka(), anchor });
            assert.notEqual(step.do, 'refuse');
            if (step.do === 'annotate') [adopt, written] = [step.clusterId, written + 1];
          }
        };
        all.forEach(turn);
        ['command', 'operator', 'ready'].forEach(turn);
        assert.equal(next({ kafka: kafka(), anchor }).do, 'done');
        assert.equal(written, 1);
      }),
    );
  });
});
