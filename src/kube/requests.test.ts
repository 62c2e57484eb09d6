import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { systemClock } from './clock.ts';
import type { Connection } from './connection.ts';
import { createRequests } from './requests.ts';

const directory = mkdtempSync(join(tmpdir(), 'isthmus-requests-'));
after(() => rmSync(directory, { recursive: true }));
const WAITS = `setInterval(() => require('fs').existsSync(${JSON.stringify(directory)}) || process.exit(1), 50)`;

/** Nobody is asked: the user's plugin waits for the end of the test. */
const CONNECTION: Connection = {
  name: 'c',
  server: 'http://127.0.0.1:9',
  namespace: 'default',
  tls: { insecure: false },
  user: {
    name: 'u',
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', WAITS],
      env: {},
    },
  },
};

suite('requests', () => {
  test(
    'a deadline counts the credential plugin in, and a caller who gives up does not wait for it',
    { timeout: 30_000 },
    async () => {
      const requests = createRequests(CONNECTION, { clock: systemClock });
      const call = { verb: 'get', method: 'GET', path: '/version' } as const;
      const abort = new AbortController();
      const gaveUp = requests.call({ ...call, signal: abort.signal });
      const late = requests.call({ ...call, timeoutMs: 100 });
      abort.abort(new Error('gave up'));
      await assert.rejects(gaveUp, /gave up/);
      await assert.rejects(late, { reason: 'Timeout' });
      await requests.close(0);
    },
  );
});
