/** What the tests of src/kube share: clients of a control plane, a relay to break connections with, and ways to compare. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createClient } from '../../../src/kube/http/client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { Cache } from '../../../src/kube/cache/cache.ts';
import type { Connection } from '../../../src/kube/http/connection.ts';
import { connectionOf, parseKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import { keyOf } from '../../../src/kube/object.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { createLog } from '../../../src/ops/log.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

export const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');

export const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
export const NAMESPACE = 'default';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

export function configMap(
  name: string,
  data: Record<string, string>,
  metadata: Partial<KubeObject['metadata']> = {},
): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE, ...metadata }, data };
}

export function connect(kubeconfig: string): Connection {
  return connectionOf(parseKubeconfig(kubeconfig, 'test'));
}

export function clientOf(kubeconfig: string): Client {
  return createClient(connect(kubeconfig));
}

/** A hole in the wall that lets bytes through, until told otherwise. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** How many connections were ever made through it. */
  readonly connections: number;
  /** Ends all connections at once, as a dying peer would. */
  cut(): void;
  /** Keeps the connections there are open, and swallows what is sent on them: half-open, as behind a firewall that lost its state. */
  freeze(): void;
  /** Whether new connections get through; refused ones are closed at once. */
  admit(yes: boolean): void;
}

export async function startRelay(targetPort: number): Promise<Relay> {
  const pairs = new Set<{ near: Socket; far: Socket }>();
  let connections = 0;
  let isOpen = true;
  const server = createServer((near) => {
    near.on('error', () => {});
    if (!isOpen) {
      near.destroy();
      return;
    }
    connections += 1;
    const far = createConnection(targetPort, '127.0.0.1');
    const pair = { near, far };
    pairs.add(pair);
    near.pipe(far).pipe(near);
    far.on('error', () => near.destroy());
    near.on('close', () => {
      far.destroy();
      pairs.delete(pair);
    });
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    cut,
    freeze() {
      for (const { near, far } of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.resume(); // read, and thrown away
        far.resume();
      }
    },
    admit: (yes) => void (isOpen = yes),
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

export const portOf = (url: string) => Number(new URL(url).port);

/** The same connection by way of a relay. */
export function through(relay: Relay, connection: Connection): Connection {
  return { ...connection, server: `https://127.0.0.1:${relay.port}` };
}

/** Waits until the cache holds exactly what the server has, in the same versions. */
export async function waitUntilEqual(
  cache: Cache<KubeObject>,
  client: Client,
  timeoutMs = 180_000,
): Promise<void> {
  const versionsOf = (objects: readonly KubeObject[]) =>
    Object.fromEntries(objects.map(({ metadata }) => [keyOf(metadata), metadata.resourceVersion] as const));
  let last = '';
  try {
    await waitFor(
      'the cache to equal the server',
      async () => {
        const server = versionsOf((await client.list(cache.type)).items);
        try {
          assert.deepEqual(versionsOf(cache.list()), server);
          return true;
        } catch (error) {
          last = String(error);
          return false;
        }
      },
      { timeoutMs, everyMs: 100 },
    );
  } catch (cause) {
    throw new Error(`${String(cause)}; problem: ${cache.problem}; ${last}`, { cause });
  }
}

/** Collects, for each key that a cache tells of, the versions seen. */
export function recordVersions(cache: Cache<KubeObject>): Map<string, (string | undefined)[]> {
  const seen = new Map<string, (string | undefined)[]>();
  cache.subscribe((key) => {
    seen.set(key, [...(seen.get(key) ?? []), cache.get(key)?.metadata.resourceVersion]);
  });
  return seen;
}
