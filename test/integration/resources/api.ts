/** Talks to an API server as kubectl does, but without a process for each of a hundred small resources. */
import { Agent, request } from 'node:https';
import { parse } from 'yaml';
import type { ControlPlane } from '../../support/control-plane.ts';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  /** What the API server has to say, if it refused. */
  message: string;
}

export interface Api extends Disposable {
  send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: string,
    type?: string,
  ): Promise<Answer>;
}

interface Kubeconfig {
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

/** A connection for the administrator. */
export function connect(plane: ControlPlane): Api {
  const { user } = (parse(plane.kubeconfigText) as Kubeconfig).users[0]!;
  const agent = new Agent({
    keepAlive: true,
    ca: plane.caPem,
    cert: Buffer.from(user['client-certificate-data'], 'base64'),
    key: Buffer.from(user['client-key-data'], 'base64'),
  });
  return {
    send: (method, path, body, type = 'application/yaml') =>
      new Promise((resolve, reject) => {
        const call = request(new URL(path, plane.url), {
          method,
          agent,
          timeout: 120_000,
          headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': type }) },
        });
        call.on('error', reject);
        call.on('timeout', () => call.destroy(new Error(`${method} ${path}: no answer`)));
        call.on('response', (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            try {
              const body = JSON.parse(Buffer.concat(chunks).toString()) as Answer['body'];
              resolve({ status: response.statusCode ?? 0, body, message: String(body['message']) });
            } catch (error) {
              reject(error);
            }
          });
        });
        call.end(body);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
