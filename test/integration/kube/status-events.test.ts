/** Status and events, written to a real kube-apiserver. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Client } from '../../../src/kube/http/client.ts';
import { mergeConditions } from '../../../src/kube/write/conditions.ts';
import type { Condition } from '../../../src/kube/write/conditions.ts';
import { createEventRecorder } from '../../../src/kube/write/events.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { writeStatus } from '../../../src/kube/write/status.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { clientOf, configMap, log } from './harness.ts';
import type { ConfigMap } from './harness.ts';

let plane: ControlPlane;
let admin: Client;
before(async () => {
  plane = await startControlPlane();
  admin = clientOf(plane.kubeconfigText);
});
after(async () => {
  await admin?.close();
  await plane?.stop();
});

suite('status and events', { timeout: 300_000 }, () => {
  const WIDGET = { group: 'example.com', version: 'v1', kind: 'Widget' };
  interface Widget extends KubeObject {
    status?: { phase?: string; conditions?: Condition[] };
  }

  async function createWidgets(): Promise<void> {
    const schema = {
      type: 'object',
      properties: { status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: { openAPIV3Schema: schema },
    };
    const names = { plural: 'widgets', kind: 'Widget' };
    await assert.rejects(admin.resource(WIDGET), /no kind Widget/);
    await admin.create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    } as KubeObject);
    await waitFor('the new kind', () =>
      admin.resource(WIDGET).then(
        () => true,
        () => false,
      ),
    );
  }

  test('a status is written only where it differs, over nobody’s head, and keeps its times', async () => {
    await createWidgets();
    const name = { namespace: 'default', name: 'one' };
    const create = () =>
      admin.create<Widget>({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: name });
    const seen = await waitFor('the first widget', () => create().catch(() => undefined));
    const ready = { type: 'Ready', status: 'True', reason: 'Fine', message: 'all is well' } as const;
    const statusAt = (now: string) => (status: Widget['status']) => ({
      phase: 'Running',
      conditions: mergeConditions(status?.conditions, [ready], new Date(now), (type) => type === 'Ready'),
    });
    assert.equal(await writeStatus(admin, seen, statusAt('2026-01-01T00:00:00Z')), 'written');
    const first = await admin.get<Widget>(WIDGET, name);
    assert.deepEqual(first?.status, {
      phase: 'Running',
      conditions: [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    });
    const patches = admin.counts.patch;
    assert.equal(await writeStatus(admin, first, statusAt('2027-01-01T00:00:00Z')), 'unchanged');
    assert.equal(admin.counts.patch, patches, 'nothing was sent');

    // Somebody else adds a condition that an old copy does not show.
    const foreign = {
      type: 'Foreign',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2025-01-01T00:00:00Z',
    } as const;
    await writeStatus(admin, first, (status) => ({
      ...status,
      conditions: [...(status?.conditions ?? []), foreign],
    }));
    assert.equal(await writeStatus(admin, seen, statusAt('2028-01-01T00:00:00Z')), 'unchanged');
    const last = await admin.get<Widget>(WIDGET, name);
    assert.deepEqual(
      last?.status?.conditions?.map(({ type }) => type),
      ['Ready', 'Foreign'],
    );

    await admin.delete(WIDGET, name);
    assert.equal(await writeStatus(admin, last, () => ({ phase: 'Late' })), 'gone');
  });

  test('events are counted, limited, and never in the way', async (t) => {
    const EVENT = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
    interface EventObject extends KubeObject {
      reason: string;
      note: string;
      series?: { count: number };
    }
    const namespace = 'events';
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const regarding = await admin.create<ConfigMap>(configMap('noisy', {}, { namespace }));
    const recorder = createEventRecorder({
      client: () => admin,
      reportingController: 'example.com/test',
      log,
    });
    t.after(() => recorder.stop());
    const notice = { type: 'Warning', reason: 'Failed', action: 'Trying', note: 'again' } as const;
    const began = performance.now();
    for (let i = 0; i < 5; i++) recorder.record(regarding, notice);
    await recorder.flush();
    recorder.record(regarding, notice);
    await recorder.flush();
    const eventsOf = async () => (await admin.list<EventObject>(EVENT, { namespace })).items;
    const [event, ...more] = await eventsOf();
    assert.deepEqual(more, []);
    assert.equal(event?.series?.count, 6);

    for (let i = 0; i < 100; i++) recorder.record(regarding, { ...notice, note: `no. ${i}` });
    await recorder.flush();
    // So many at once, and one more for each minute since.
    const minutes = Math.floor((performance.now() - began) / 60_000);
    const told = (await eventsOf()).length;
    assert.ok(told >= 25 && told <= 25 + minutes, `${told} events`);
    const node = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'without-namespace' } };
    recorder.record(await admin.create(node), notice);
    await recorder.flush();
    const inDefault = (await admin.list<EventObject>(EVENT, { namespace: 'default' })).items;
    assert.ok(inDefault.some(({ metadata }) => metadata.name.startsWith('without-namespace.')));

    const gone = clientOf(plane.kubeconfigText.replace(plane.url, 'https://127.0.0.1:1'));
    const unheard = createEventRecorder({ client: () => gone, reportingController: 'example.com/test', log });
    unheard.record(regarding, notice);
    await unheard.stop();
    await gone.close(0);
  });
});
