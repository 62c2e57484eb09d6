/** What is in Secrets and ConfigMaps of others never comes to the operator, however much of it there is: neither listed, nor watched, nor read. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { CLUSTER_LABEL } from '../../../src/control/targets/names.ts';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startRecorder } from '../../support/control-plane/recorder.ts';
import type { Recorded, Recorder } from '../../support/control-plane/recorder.ts';
import { createAuthority } from '../../support/pki.ts';
import { kafka, nodePool } from '../brokers/fixture.ts';
import { named } from '../control/fixture.ts';
import { adminOf, metric, runOperator, waitForCondition } from '../control/harness.ts';

const OURS = 'isthmus-system';
/** In base64 it is the same again and again, since its length is a multiple of three; so one text is looked for. */
const MARK = Buffer.from('what-somebody-else-keeps-here ').toString('base64');
const TEXT = MARK.repeat(20_000);
const EACH = 4;

/** Labels as our own objects have them: anybody may write these. */
const LABELS = [
  {},
  { 'kroxylicious.io/proxy': 'edge' },
  { 'strimzi.io/cluster': 'events' },
  { [CLUSTER_LABEL]: 'east' },
];
/** Also where Kafkas are: of Strimzi, which gives their Secrets this label, and of ours. */
const PLACES = ['others', 'default'];

const foreign = (
  kind: 'Secret' | 'ConfigMap',
  name: string,
  namespace: string,
  labels: object,
): AnyObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace, labels: labels as Record<string, string> },
  data: { text: TEXT },
});

async function resources(): Promise<AnyObject[]> {
  const authority = await createAuthority('foreign');
  const { certPem, keyPem } = await authority.issue({
    commonName: 'x',
    dns: ['*.default.svc.cluster.local'],
  });
  const proxyRef = { name: 'edge' };
  return [
    named('Secret', 'cert', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': certPem, 'tls.key': keyPem } }, 'v1'), // prettier-ignore
    named('ConfigMap', 'trust', { data: { 'ca-bundle.pem': authority.certPem } }, 'v1'),
    named('KafkaProxy', 'edge', { spec: {} }),
    named('KafkaProxyIngress', 'inside', { spec: { proxyRef, clusterIP: { protocol: 'TLS' } } }),
    named('KafkaClusterRef', 'brokers', {
      spec: {
        bootstrap: 'kafka.invalid:9092',
        protocol: 'TLS',
        tls: { trustAnchorRefs: [{ kind: 'ConfigMap', name: 'trust' }] },
      },
    }),
    named('VirtualKafkaCluster', 'orders', {
      spec: {
        proxyRef,
        ingresses: [{ name: 'inside', tls: { certificateRefs: [{ name: 'cert' }] } }],
        targetCluster: { clusterRef: { name: 'brokers' } },
      },
    }),
    kafka('events'),
    { ...kafka('events'), metadata: { name: 'events', namespace: 'others' } },
    nodePool('events', 'dual'),
  ];
}

suite('an operator among others’ Secrets and ConfigMaps', () => {
  let plane: ControlPlane;
  let client: Client;
  let recorder: Recorder;
  let operator: Operator | undefined;
  before(async () => {
    plane = await startControlPlaneWithCrds();
    client = adminOf(plane);
    recorder = await startRecorder(plane, MARK);
  });
  after(async () => {
    await operator?.stop();
    await recorder?.[Symbol.asyncDispose]();
    await client?.close();
    await plane?.stop();
  });
  const start = async () =>
    (operator = await runOperator(plane, {
      kubeconfig: recorder.kubeconfig,
      namespace: OURS,
      roads: ['proxy', 'kafka', 'redpanda', 'pod-sets'],
      targets: { central: 'hub', remotes: [], isStretching: true, networkPolicies: true },
    }));

  const HOLDERS = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?(secrets|configmaps)(?:\/([^/?]+))?(\?.*)?$/;
  const holders = () =>
    recorder.requests.flatMap((one) => {
      const [, namespace, kind = '', name] = HOLDERS.exec(one.url) ?? [];
      return kind === '' ? [] : [{ ...one, namespace, kind, name, query: new URLSearchParams(one.url.split('?')[1]) }]; // prettier-ignore
    });
  /** Waits until watches of both kinds have brought as much as there is to know of so many objects. */
  const watched = async () => {
    for (const kind of ['secrets', 'configmaps'])
      await waitFor(`watches of ${kind}`, async () => {
        const watches = holders().filter((one) => one.kind === kind && one.query.has('watch'));
        return watches.reduce((sum, { bytes }) => sum + bytes, 0) > EACH * 200;
      });
  };
  const show = ({ method, url, accept, bytes }: Recorded) => `${method} ${url} (${accept}): ${bytes} bytes`;

  test('asks for no contents but of what is referred to, and gets none', async () => {
    for (const name of [OURS, 'others'])
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const put = async (wave: string) => {
      for (const kind of ['Secret', 'ConfigMap'] as const)
        for (let i = 0; i < EACH; i++)
          for (const namespace of PLACES)
            await client.create(foreign(kind, `foreign-${wave}-${i}`, namespace, LABELS[i % LABELS.length]!));
    };
    await put('before');
    await start();
    for (const object of await resources()) await client.create(object);
    await waitForCondition(client, ['VirtualKafkaCluster', 'orders'], ['Accepted', 'True']);
    await waitForCondition(client, ['VirtualKafkaCluster', 'orders'], ['ResolvedRefs', 'True']);
    await waitForCondition(client, ['Kafka', 'events'], ['Ready', 'False']);
    // What comes and changes while it watches.
    await put('after');
    for (let i = 0; i < EACH; i++)
      await client.mergePatch(
        { group: '', version: 'v1', kind: 'Secret' },
        { namespace: 'others', name: `foreign-before-${i}` },
        { metadata: { annotations: { changed: 'yes' } } },
      );
    await watched();
    const all = holders();
    const many = all.filter(({ name, method }) => method === 'GET' && name === undefined);
    assert.ok(many.length >= 4, 'both kinds are listed and watched');
    const isOfJoined = ({ namespace, query }: (typeof many)[0]) =>
      namespace === OURS && query.get('labelSelector') === CLUSTER_LABEL;
    const withContents = many.filter((one) => !one.accept.includes('as=PartialObjectMetadata') && !isOfJoined(one)); // prettier-ignore
    assert.deepEqual(withContents.map(show), []);
    assert.deepEqual(all.filter(({ found }) => found).map(show), []);
    const read = all.filter(({ name, method }) => method === 'GET' && name !== undefined);
    assert.ok(read.some(({ name }) => name === 'cert') && read.some(({ name }) => name === 'trust'));
    assert.deepEqual(read.filter(({ name = '' }) => name.startsWith('foreign')).map(show), []);
    const there = 2 * 2 * PLACES.length * EACH * TEXT.length;
    const received = recorder.requests.reduce((sum, { bytes }) => sum + bytes, 0);
    assert.ok(received < there / 4, `${received} bytes came, of others’ ${there}`);
  });

  test('nor does one that starts anew, with all of it there', async () => {
    await operator!.stop();
    const before = recorder.requests.length;
    await start();
    await waitFor('it to have looked', async () => (await metric(operator!, 'isthmus_controller_reconciles_total', 'proxy')) > 0); // prettier-ignore
    const since = recorder.requests.slice(before);
    assert.ok(since.length > 10);
    assert.deepEqual(since.filter(({ found }) => found).map(show), []);
  });
});
