/** Knot DNS and BIND as secondaries of a zone: they copy it, are told of changes, and sign all of it with a key. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import type { DnsTools } from './tools.ts';

export interface SecondaryOptions {
  tools: DnsTools;
  zone: string;
  /** The port that it is to listen on: the primary has to know it first. */
  port: number;
  primaryPorts: readonly number[];
  key: { name: string; secret: string };
}

export interface Secondary extends AsyncDisposable {
  readonly logFile: string;
}

export const SECONDARIES = { bind: startBindSecondary, knot: startKnotSecondary };

async function startBindSecondary({
  tools,
  zone,
  port,
  primaryPorts,
  key,
}: SecondaryOptions): Promise<Secondary> {
  const folder = workspace('bind-secondary');
  await mkdir(folder, { recursive: true });
  const primaries = primaryPorts.map((each) => `127.0.0.1 port ${each} key "${key.name}";`).join(' ');
  const config = `
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; allow-query { any; }; notify no; dnssec-validation no; min-retry-time 1;
};
controls { };
zone "${zone}" {
  type secondary; file "copy.zone"; primaries { ${primaries} }; allow-notify { key "${key.name}"; };
};
`;
  await writeFile(join(folder, 'named.conf'), config);
  const logFile = join(folder, 'named.log');
  const args = ['-g', '-n', '1', '-c', join(folder, 'named.conf')];
  return disposable(startServer('named', 'named', args, { logFile, env: tools.env }), logFile);
}

async function startKnotSecondary({
  tools,
  zone,
  port,
  primaryPorts,
  key,
}: SecondaryOptions): Promise<Secondary> {
  const folder = workspace('knot-secondary');
  await mkdir(folder, { recursive: true });
  const remotes = primaryPorts.map(
    (each, i) => `
  - id: primary${i}
    address: 127.0.0.1@${each}
    key: ${key.name}`,
  );
  const config = `
server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: ${folder}/db
key:
  - id: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
remote:${remotes.join('')}
acl:
  - id: told
    key: ${key.name}
    action: notify
zone:
  - domain: ${zone}
    storage: ${folder}
    master: [${primaryPorts.map((_, i) => `primary${i}`).join(', ')}]
    acl: told
    retry-max-interval: 1
`;
  await writeFile(join(folder, 'knot.conf'), config);
  const logFile = join(folder, 'knot.log');
  return disposable(
    startServer('knotd', 'knotd', ['-c', join(folder, 'knot.conf')], { logFile, env: tools.env }),
    logFile,
  );
}

function disposable(server: Server, logFile: string): Secondary {
  return { logFile, [Symbol.asyncDispose]: () => server.stop() };
}

/** A port for a secondary, kept until it is disposed of. */
export async function reservePort(): Promise<AsyncDisposable & { port: number }> {
  const ports = await reservePorts(1);
  return { port: ports.numbers[0]!, [Symbol.asyncDispose]: () => ports.release() };
}
