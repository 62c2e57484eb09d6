/** The Corefile of docs/stretch.md, by which clusters in a mesh of Cilium find each other's nodes of Kafka, in real servers of two clusters. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parseCorefile } from '../../../src/control/discover/delegation/corefile/parse.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { ensureCoreDns } from '../../support/install/coredns.ts';
import { workspace } from '../../support/workspace.ts';
import { asking } from './site.ts';

const page = readFile(new URL('../../../docs/stretch.md', import.meta.url), 'utf8');

/** What stands for the plugin that knows the cluster's own Services. */
const clusterBlock = (port: number, pod: string, address: string) =>
  `.:${port} {\n    hosts {\n        ${address} ${pod}.events-kafka-brokers.kafka.svc.cluster.local\n    }\n}\n`;

async function startCoreDns(program: string, port: number, corefile: string) {
  const directory = workspace(`cilium-names-${port}`);
  const file = join(directory, 'Corefile');
  await writeFile(file, corefile);
  return startServer('coredns', program, ['-conf', file], { logFile: join(directory, 'coredns.log') });
}

suite('names of nodes over a mesh of Cilium', () => {
  test('are answered by the server of the cluster that each is in', async () => {
    const corefile = /^```corefile\n(.*?)^```$/ms.exec(await page)?.[1] ?? '';
    const parsed = parseCorefile(corefile);
    assert.ok('blocks' in parsed, JSON.stringify(parsed));
    const zones = ['hub', 'east', 'west'].map((name) => `${name}.svc.cluster.local:53`);
    assert.deepEqual(parsed.blocks.flatMap(({ keys }) => keys), [...zones, 'clusterset.local:53']); // prettier-ignore

    const program = await ensureCoreDns();
    await using ports = await reservePorts(2);
    const [hub = 0, east = 0] = ports.numbers;
    const here = corefile
      .replaceAll(/:53 \{/g, `:${hub} {`)
      .replaceAll('10.96.0.10', `127.0.0.1:${hub}`)
      .replaceAll(/(192\.0\.2\.1\d:30053 ?)+/g, `127.0.0.1:${east}`);
    const servers = [
      await startCoreDns(program, east, clusterBlock(east, 'events-east-0', '10.1.0.7')),
      await startCoreDns(program, hub, here + clusterBlock(hub, 'events-hub-1', '10.0.0.7')),
    ];
    try {
      const ask = asking(hub);
      const hostOf = (pod: string) => `${pod}.events-kafka-brokers.kafka.svc.clusterset.local`;
      const resolves = (pod: string, address: string) =>
        waitFor(pod, async () => JSON.stringify(await ask(hostOf(pod))) === JSON.stringify([address]));
      await resolves('events-hub-1.hub', '10.0.0.7');
      await resolves('events-east-0.east', '10.1.0.7');
      assert.notDeepEqual(await ask(hostOf('events-east-0.hub')), ['10.1.0.7']);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
});
