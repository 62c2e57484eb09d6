/** How a client authenticates and what it trusts, the same for every client library. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '../pki.ts';
import type { Authority, KeyPairPem } from '../pki.ts';

export interface Credentials {
  mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  username: string;
  password: string;
}

/** TLS if there is a `ca`, mutual TLS if there is a `client` too, SASL if there is `sasl`; all three can be combined. */
export interface Security {
  /** Path of the authority's certificate, PEM. */
  ca?: string;
  /** Paths of PEM files; `store` has key and certificate in one, as Java wants it. */
  client?: { cert: string; key: string; store: string };
  sasl?: Credentials;
}

/** SCRAM user of every testbed cluster. */
export const ALICE: Credentials = { mechanism: 'SCRAM-SHA-512', username: 'alice', password: 'alice-secret' };
/** PLAIN user of every testbed cluster. */
export const BOB: Credentials = { mechanism: 'PLAIN', username: 'bob', password: 'bob-secret' };

/** The certificates of a cluster and of a client, in memory and as files. */
export interface Tls {
  authority: Authority;
  server: KeyPairPem;
  client: KeyPairPem;
  caFile: string;
  keystoreFile: string;
  clientFiles: { cert: string; key: string; store: string };
}

/**
 * Makes the certificates. Every name below `localhost` is covered, for tests that route by name; Node takes no wildcard
 * right below a top-level domain.
 */
export async function writeTls(directory: string): Promise<Tls> {
  const authority = await createAuthority('kafka testbed');
  const [server, client] = await Promise.all([
    authority.issue({
      commonName: 'kafka',
      dns: ['localhost', '*.localhost', '*.kafka.localhost'],
      ips: ['127.0.0.1'],
    }),
    authority.issue({ commonName: 'client' }),
  ]);
  await mkdir(directory, { recursive: true });
  const write = async (name: string, text: string) => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    authority,
    server,
    client,
    caFile: await write('ca.pem', authority.certPem),
    keystoreFile: await write('server.pem', server.keyPem + server.certPem),
    clientFiles: {
      cert: await write('client.crt', client.certPem),
      key: await write('client.key', client.keyPem),
      store: await write('client.pem', client.keyPem + client.certPem),
    },
  };
}
