/** The whole program, started while the API server of its cluster does not answer. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { snapshotHeader, snapshotLine } from '../../../src/dns/zone/snapshot.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { readReply } from '../../support/dns/testing.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from './ask.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

test('the records of the last run are served, and the metrics say so', async () => {
  const folder = workspace('restart');
  const [config, kubeconfig, snapshotFile] = ['dns.yaml', 'kubeconfig', 'records.jsonl'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await using ports = await reservePorts(3);
  const [port, management, nobody] = ports.numbers as [number, number, number];
  const record = { name: 'web.example.test', type: 'A', data: '10.0.0.1' } as const;
  const line = snapshotLine(record);
  writeFileSync(snapshotFile, snapshotHeader(hash('sha256', line), 1_700_000_000) + line);
  const named = (kind: string, value: object) => [{ name: 'here', [kind]: value }];
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'here',
      clusters: named('cluster', { server: `http://127.0.0.1:${nobody}` }),
      users: named('user', {}),
      contexts: named('context', { cluster: 'here', user: 'here' }),
    }),
  );
  writeFileSync(
    config,
    JSON.stringify({
      listen: [`127.0.0.1:${port}`],
      zones: [{ name: 'example.test' }],
      snapshotFile,
      kubernetes: { clusterId: 'here', kubeconfig },
      management: { host: '127.0.0.1', port: management },
    }),
  );
  const logFile = join(folder, 'log');
  const server = startServer('dns', process.execPath, [MAIN, 'dns', '--config', config], { logFile });
  try {
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${management}${path}`)).text();
    await waitFor('its metrics', () =>
      get('/metrics').then(
        (text) => /^isthmus_dns_stale 1$/m.test(text),
        () => false,
      ),
    );
    const [answer] = await askAll(port, [{ name: 'web.example.test', type: 'A' }]);
    assert.deepEqual(readReply(answer!).answer, ['web.example.test 30 A 10.0.0.1']);
  } finally {
    await server.stop();
  }
});
