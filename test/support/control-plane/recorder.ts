/**
 * A way to a real API server, as its administrator, that notes every request and looks through what is answered. The API server's own
 * audit log says neither in which form something was asked for nor what a watch brought.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { readPem } from '../../../src/kube/http/connection.ts';
import { connectionOf, parseKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import type { ControlPlane } from '../control-plane.ts';
import { workspace } from '../workspace.ts';

/** One request, with what has been answered so far. */
export interface Recorded {
  method: string;
  /** With the query. */
  url: string;
  /** In which form the answer is wanted. */
  accept: string;
  bytes: number;
  /** Whether the text that is looked for was in the answer. */
  found: boolean;
}

export interface Recorder extends AsyncDisposable {
  /** Path of a kubeconfig that leads here. */
  readonly kubeconfig: string;
  readonly requests: readonly Recorded[];
}

/** Looks for a text in all that is answered. Put it into data many times: it is not found where two pieces of an answer meet. */
export async function startRecorder(plane: ControlPlane, text: string): Promise<Recorder> {
  const { server, tls, user } = connectionOf(parseKubeconfig(plane.kubeconfigText, 'recorder'));
  const pem = (of: Parameters<typeof readPem>[0] | undefined) => of && readPem(of, 'recorder');
  const agent = new Agent({
    ca: pem(tls.ca),
    cert: pem(user.certificate?.cert),
    key: pem(user.certificate?.key),
    keepAlive: true,
  });
  const requests: Recorded[] = [];

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = '', url = '', headers } = incoming;
    const noted: Recorded = { method, url, accept: headers.accept ?? '', bytes: 0, found: false };
    requests.push(noted);
    // What is compressed cannot be looked through.
    const asked = { ...headers, host: new URL(server).host, 'accept-encoding': 'identity' };
    const passed = request(new URL(url, server), { agent, method, headers: asked }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        noted.bytes += chunk.length;
        noted.found ||= chunk.includes(text);
      });
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  }

  const front = createServer(pass);
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const kubeconfig = join(workspace('recorder'), 'kubeconfig');
  const here = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const named = { name: 'recorder' };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'recorder',
      contexts: [{ ...named, context: { cluster: 'recorder', user: 'recorder' } }],
      clusters: [{ ...named, cluster: { server: here } }],
      users: [{ ...named, user: {} }],
    }),
  );
  return {
    kubeconfig,
    requests,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      front.close();
      await once(front, 'close');
      agent.destroy();
    },
  };
}
