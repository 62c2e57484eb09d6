/**
 * Exposed brokers that the operator also looks at from another cluster: two real API servers that `isthmus join` has joined, real brokers in
 * the one, and in the other a pod that runs Isthmus as it is in the tree. Both share the machine's network, so that they see the same; what
 * only one of them would see is left to unit tests.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane, startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { sourceImage } from '../../support/images/isthmus-source.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';
import { startPodRunner } from '../../support/pods/runner.ts';
import type { PodRunner } from '../../support/pods/runner.ts';
import { workspace } from '../../support/workspace.ts';
import { metrics } from '../control/harness.ts';
import { startOurs } from '../dns/server.ts';
import type { TestServer } from '../dns/server.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const SUBDOMAIN = 'kafka.example.test';
/** Nobody here is in that network, which nothing here enforces. */
const exposed = {
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    {
      name: 'ext',
      port: 9094,
      type: 'hostport',
      tls: true,
      authentication: { type: 'tls' },
      configuration: { subdomain: SUBDOMAIN, allowedSources: ['192.0.2.0/24'] },
    },
  ],
};

interface Vantage {
  name: string;
  problem?: string;
  reached: number;
  unreached: number;
  endpoints: { name: string; failed: string; problem: string }[];
  sources?: { name: string; connected: boolean }[];
}

interface JoinReport {
  changes: { cluster: string; object: string }[];
  categories: { checks: { result: string; code?: string; error?: string }[] }[];
}

describe('exposed brokers, seen from another cluster', { timeout: 900_000 }, () => {
  let central: ControlPlane;
  let east: ControlPlane;
  let bed: Bed;
  let lookouts: PodRunner;
  let dns: TestServer;
  let report: JoinReport;
  let kubeconfig: string;

  before(async () => {
    [central, east] = await Promise.all([startControlPlaneWithCrds(), startControlPlane()]);
    dns = await startOurs({ zones: [{ name: SUBDOMAIN, nameservers: [`ns.${SUBDOMAIN}`] }] });
    const image = await sourceImage();
    lookouts = await startPodRunner(east, {
      nodes: [{ name: 'east-1' }],
      kafkaVersions: [],
      images: [image],
    });
    kubeconfig = join(workspace('vantage'), 'both.kubeconfig');
    writeFileSync(kubeconfig, inOneKubeconfig({ hub: central.kubeconfigText, east: east.kubeconfigText }));
    const { code, out, err } = await isthmus('join', '--context', 'east', '--roads', 'probe', '-n', 'default', '-o', 'json'); // prettier-ignore
    assert.equal(code, 0, out + err);
    report = JSON.parse(out) as JoinReport;
    bed = await startBed({
      plane: central,
      nodes: [{ name: 'a' }],
      operator: {
        probeResolver: `127.0.0.1:${dns.port}`,
        probeFrom: ['east'],
        proxyImage: image.name,
      },
    });
  });
  after(async () => {
    await bed?.[Symbol.asyncDispose]();
    await lookouts?.stop();
    await dns?.close();
    await Promise.all([east?.stop(), bed ? undefined : central?.stop()]);
  });

  async function isthmus(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const written = { out: '', err: '' };
    const code = await runProgram([...args, '--kubeconfig', kubeconfig], {
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      exitCode: 0,
    });
    return { code, ...written };
  }

  const vantages = async () =>
    (((await bed.get('KafkaAnchor', 'out'))?.['status'] ?? {}) as { vantages?: Vantage[] }).vantages ?? [];
  const until = (what: string, holds: (all: Vantage[]) => boolean) =>
    waitFor(what, async () => holds(await vantages()), PATIENCE).catch(async (error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(await vantages())}`),
    );
  const untilCondition = async (type: string, status: string, message: RegExp) => {
    const holds = async () => {
      const found = await bed.condition('out', type);
      return found?.status === status && message.test(found.message);
    };
    await waitFor(`${type} is ${status}`, holds, PATIENCE).catch(async (error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(await bed.condition('out', type))}`),
    );
  };
  /** In the place of external-dns. */
  const publish = async () => {
    const type = { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' };
    const found = await bed.client.get(type, { namespace: 'default', name: 'out-kafka-ext' });
    const { endpoints = [] } = (found?.['spec'] ?? {}) as {
      endpoints?: { dnsName: string; recordType: 'A'; targets: string[] }[];
    };
    const records = endpoints.flatMap(({ dnsName: name, recordType, targets }) =>
      targets.map((data) => ({ name, type: recordType, data, ttl: 1 })),
    );
    assert.deepEqual(dns.upsert('DNSEndpoint default/out', records), []);
    await dns.settled();
  };
  const podsThere = async () =>
    (await east.kubectl(['get', 'pods', '-n', 'default', '-l', 'app.kubernetes.io/component=probe', '-o', 'name'])).stdout.trim(); // prettier-ignore

  const untilLooked = () =>
    waitFor(
      'another look',
      async () => /^isthmus_kafka_vantage_up\{.*cluster="east".*\} 1$/m.test(await metrics(bed.operator)),
      PATIENCE,
    );

  test('the cluster was joined with rights to pods of one namespace, and no others', () => {
    const there = report.changes.filter(({ cluster }) => cluster === 'east').map(({ object }) => object.split(' ')[0] ?? ''); // prettier-ignore
    assert.deepEqual([...new Set(there)].toSorted(), ['Role', 'RoleBinding', 'ServiceAccount']);
    const wrong = report.categories.flatMap(({ checks }) => checks).flatMap(({ code }) => code ?? []);
    assert.deepEqual(wrong, ['JoinedServerIsLocal'], 'test servers are on this machine');
  });

  test('names that nobody has published yet are not found from there either, and the conditions say from where', async () => {
    await bed.apply(kafka('out', exposed), nodePool('out', 'all'));
    await bed.untilReady('out');
    await until('a look from east', ([one]) => one?.unreached === 2);
    const [{ name, endpoints } = { name: '', endpoints: [] }] = await vantages();
    assert.equal(name, 'east');
    assert.deepEqual(endpoints.map((one) => [one.name, one.failed]), [['ext-bootstrap', 'resolve'], ['ext-0', 'resolve']]); // prettier-ignore
    await untilCondition('DNSPropagated', 'False', /from east: ext-bootstrap/);
    await untilCondition('Reachable', 'False', /from east: ext-bootstrap/);
    await untilCondition('SourcesEnforced', 'Unknown', /nobody has tried/);
  });

  test('once they are, a client gets through from there; and who should be kept out is not', async () => {
    await publish();
    await until('both are reached from east', ([one]) => one?.reached === 2 && one.unreached === 0);
    await untilCondition('Reachable', 'True', /^seen from this cluster, east$/);
    await untilCondition('DNSPropagated', 'True', /^$/);
    const [{ sources } = { sources: [] }] = await vantages();
    assert.deepEqual(sources?.map(({ name, connected }) => [name, connected]), [['ext', true]]); // prettier-ignore
    await untilCondition('SourcesEnforced', 'False', /from east a connection came about/);
    await waitFor('its pod is gone', async () => (await podsThere()) === '', PATIENCE);
    const text = await metrics(bed.operator);
    assert.match(text, /^isthmus_kafka_vantage_up\{[^}]*cluster="east"[^}]*\} 1$/m);
    assert.match(text, /^isthmus_kafka_vantage_endpoints\{[^}]*state="reached"[^}]*\} 2$/m);
    assert.match(text, /^isthmus_kafka_vantage_seconds_count\{[^}]*cluster="east"[^}]*\} 2$/m);
  });

  test('what is written stays as it is while nothing changes, and a new operator looks for itself', async () => {
    const before = (await bed.get('KafkaAnchor', 'out'))?.metadata.resourceVersion;
    await bed.restartOperator();
    await untilLooked();
    assert.equal((await bed.get('KafkaAnchor', 'out'))?.metadata.resourceVersion, before);
  });

  test('a place that nobody has joined is told of, and changes nothing else', async () => {
    await bed.restartOperator({ probeFrom: ['east', 'west'] });
    await until('both are told of', (all) => all.length === 2);
    const [, west] = await vantages();
    assert.match(west!.problem ?? '', /not joined/);
    await untilCondition('Reachable', 'True', /^seen from this cluster, east; nobody could look from west: /);
    // Whoever takes the option away in the middle of a look leaves its pod.
    await untilLooked();
  });

  test('without the option nobody looks, and nothing of it is left', async () => {
    await bed.restartOperator({ probeFrom: [] });
    await until('nothing is said of other clusters', (all) => all.length === 0);
    await untilCondition('Reachable', 'True', /^$/);
    await untilCondition('SourcesEnforced', 'Unknown', /nobody has tried/);
    assert.equal(await podsThere(), '');
  });
});
