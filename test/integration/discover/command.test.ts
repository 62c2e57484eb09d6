/** `isthmus dns` as a process, with no more rights than its manifests give it, and a cluster that is joined. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import type { Ports } from '../../../src/store/embedded/ports.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';
import { apply, asking, endpointSlice, expectEvent, exportOf, installKinds, service } from './site.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const NAMESPACE = 'isthmus-system';

/** Runs one command line, and gives what it printed. */
async function isthmus(...args: string[]): Promise<string> {
  const text = { out: '', err: '' };
  const terminal = {
    out: (more: string) => void (text.out += more),
    err: (more: string) => void (text.err += more),
    exitCode: 0 as const,
  };
  assert.equal(await runProgram(args, terminal), 0, text.err);
  return text.out;
}

suite('isthmus dns', () => {
  let west: ControlPlane;
  let east: ControlPlane;
  let ports: Ports;
  let server: Server;
  let config: string;
  let ask: ReturnType<typeof asking>;

  /** The account of the manifests, by a certificate. */
  async function account(plane: ControlPlane): Promise<string> {
    return plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
  }

  before(async () => {
    [west, east, ports] = await Promise.all([startControlPlane(), startControlPlane(), reservePorts(2)]);
    await Promise.all([installKinds(west), installKinds(east)]);
    const [port = 0, managementPort = 0] = ports.numbers;
    config = join(west.directory, 'dns.yaml');
    const kubeconfig = await account(west);
    const kubernetes = { clusterId: 'west', kubeconfig, secretsNamespace: NAMESPACE, import: true };
    const management = { host: '127.0.0.1', port: managementPort };
    const document = { listen: [`127.0.0.1:${port}`], zones: [{ name: 'xcc.test' }], management, kubernetes };
    await writeFile(config, stringify(document));
    const manifests = parseAllDocuments(await isthmus('dns', 'manifests', '--config', config));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    for (const plane of [west, east])
      await apply(plane, namespace, ...[manifests].flat().map((one) => one.toJS() as object));
    server = startServer('dns', process.execPath, [MAIN, 'dns', '--config', config], {
      logFile: join(west.directory, 'dns.log'),
    });
    ask = asking(port);
    const ready = async () => (await fetch(`http://127.0.0.1:${managementPort}/readyz`)).status === 200;
    await waitFor('the server to be ready', () => ready().catch(() => false), {
      abort: () => (server.running ? undefined : `it ended; log: ${server.logFile}`),
    });
  });
  after(async () => {
    await server?.stop();
    await Promise.all([west?.stop(), east?.stop(), ports?.release()]);
  });

  async function expectAnswer(name: string, answer: string[]): Promise<void> {
    const same = async () => JSON.stringify(await ask(name)) === JSON.stringify(answer);
    await waitFor(`${name} to be ${answer.join()}`, same, { everyMs: 100 });
  }

  test('answers for the cluster it serves', async () => {
    await apply(west, service('foo', 'foo.xcc.test', { clusterIP: '10.96.7.70' }));
    await expectAnswer('foo.xcc.test', ['10.96.7.70']);
  });

  test('a cluster that is joined is followed from then on, with no more rights than the join gives', async () => {
    const pets = { addresses: ['10.1.0.1'], hostname: 'a', conditions: { ready: true } };
    await apply(east, service('pets', undefined, { clusterIP: 'None' }), exportOf('pets'));
    await apply(east, endpointSlice('pets-1', [pets], { of: 'pets' }));
    const both = join(west.directory, 'both.kubeconfig');
    await writeFile(both, inOneKubeconfig({ hub: west.kubeconfigText, east: east.kubeconfigText }));
    await isthmus('join', '--kubeconfig', both, '--context', 'east', '--roads', 'discover', '--crds');
    await expectAnswer('a.east.pets.default.svc.clusterset.local', ['10.1.0.1']);
  });

  test('a service of the other cluster is imported, with the rights of the manifests', async () => {
    await apply(east, service('bar', 'bar.xcc.test'), exportOf('bar'));
    const address = async () =>
      (await west.kubectl(['get', 'serviceimport', 'bar', '-o', 'jsonpath={.spec.ips[0]}'])).stdout;
    await waitFor('an address', async () => (await address()) !== '', { everyMs: 200 });
    await expectAnswer('bar.xcc.test', [await address()]);
  });

  test('query says what is answered, and which object it came from', async () => {
    const table = await isthmus('dns', 'query', 'foo.xcc.test', '--config', config);
    assert.match(table, /^NOERROR \(answer\), from xcc\.test\.\n/);
    assert.match(table, /foo\.xcc\.test\. +30 +A +10\.96\.7\.70 +Service default\/foo/);
    const name = 'pets.default.svc.clusterset.local';
    const json = await isthmus('dns', 'query', name, 'A', '--config', config, '-o', 'json');
    const { answer } = JSON.parse(json) as { answer: { sources: string[] }[] };
    assert.deepEqual(answer[0]?.sources, ['ServiceExport east/default/pets']);
  });

  test('a joined cluster that stops to answer keeps its names, and its Secret an event', async () => {
    await east.killApiServer();
    await expectEvent(west, 'isthmus-cluster-east', 'ClusterUnreachable');
    await expectAnswer('a.east.pets.default.svc.clusterset.local', ['10.1.0.1']);
  });
});
