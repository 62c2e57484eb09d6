/** What a person sees with `kubectl describe`, with a real API server. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { FILTER, printed, useRoad } from './fixture.ts';
import { apply, get, metric, typeOfKind, waitForCondition } from './harness.ts';

interface Event {
  type: string;
  reason: string;
  note: string;
  reportingController: string;
  regarding: { kind: string; name: string; uid: string };
  series?: object;
}

suite('events', () => {
  const road = useRoad();

  async function eventsOf(kind: string, name: string): Promise<Event[]> {
    const { metadata } = (await get(road.client, kind, name))!;
    const type = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
    const { items } = await road.client.list(type, { namespace: 'default' });
    const all = items as unknown as Event[];
    return all.filter(({ regarding }) => regarding.uid === metadata.uid);
  }
  const reasonsOf = async (kind: string, name: string) =>
    (await eventsOf(kind, name)).map(({ type, reason }) => `${type} ${reason}`).toSorted();

  /** Makes the operator look again without anything having changed. */
  async function stir(times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const before = await metric(road.operator, 'isthmus_controller_reconciles_total');
      await road.plane.kubectl(['label', '--overwrite', 'service/mycluster-myclusterip', `stirred=a${i}`]);
      await waitFor(
        'another look',
        async () => (await metric(road.operator, 'isthmus_controller_reconciles_total')) > before,
      );
    }
  }

  test('what is broken and what heals is told once each, however often it is looked at', async () => {
    await apply(road.plane, ...printed('10', '11', '12', '13'));
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(road.client, cluster, ['ResolvedRefs', 'False']);
    await waitFor('the Service', () => get(road.client, 'Service', 'mycluster-myclusterip'));
    const broken = await waitFor('the event', async () => {
      const events = await eventsOf(...cluster);
      return events.length > 0 ? events : undefined;
    });
    assert.deepEqual(await reasonsOf(...cluster), ['Warning ReferencedResourcesNotFound']);
    assert.match(broken[0]!.note, /no KafkaProtocolFilter is named "encryption"/);
    assert.equal(broken[0]!.reportingController, 'isthmus.proxy');
    await stir(3);

    await apply(road.plane, FILTER);
    await road.startPod();
    await road.ready();
    const expected = ['Normal ResolvedRefs', 'Warning ReferencedResourcesNotFound'];
    await waitFor('the second event', async () => (await eventsOf(...cluster)).length === 2);
    await stir(3);
    await road.restart();
    await waitFor(
      'a look',
      async () => (await metric(road.operator, 'isthmus_controller_reconciles_total')) > 0,
    );
    await stir(1);
    assert.deepEqual(await reasonsOf(...cluster), expected);
    assert.ok(
      (await eventsOf(...cluster)).every(({ series }) => series === undefined),
      'nothing was repeated',
    );
    const described = await road.plane.kubectl(['describe', 'virtualkafkacluster', 'mycluster']);
    assert.match(described.stdout, /Warning +ReferencedResourcesNotFound/);
  });

  test('a certificate that is about to expire is told of while all is well', async () => {
    const ingress = printed('15')[0]!.replace('name: oncluster', 'name: myclusterip');
    await apply(road.plane, FILTER, ...printed('14', '16', '17'), ingress);
    const host = 'mycluster-myclusterip.default.svc.cluster.local';
    await apply(road.plane, await road.certificate('servercert', host, 'days=0.2'));
    await road.startPod();
    const cluster = ['VirtualKafkaCluster', 'mycluster'] as const;
    await waitForCondition(road.client, cluster, ['Ready', 'True', 'CertificateExpiring']);
    await waitFor('the event', async () =>
      (await reasonsOf(...cluster)).includes('Warning CertificateExpiring'),
    );
    await apply(road.plane, await road.certificate('servercert', host));
    await waitForCondition(road.client, cluster, ['Ready', 'True', 'Ready']);
    await waitFor('the end of it', async () => (await reasonsOf(...cluster)).includes('Normal Recovered'));
  });

  test('waiting for an address is told of the ingress', async () => {
    await apply(road.plane, ...printed('23', '24'));
    const ingress = ['KafkaProxyIngress', 'myloadbalancer'] as const;
    await waitForCondition(road.client, ingress, ['Ready', 'False', 'AddressPending']);
    await waitFor('the event', async () => (await reasonsOf(...ingress)).includes('Normal AddressPending'));
    await road.client.delete(typeOfKind('KafkaProxy'), { name: 'myproxy', namespace: 'default' });
    await waitFor('the event', async () =>
      (await reasonsOf(...ingress)).includes('Warning ReferencedResourcesNotFound'),
    );
  });
});
