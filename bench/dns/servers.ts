/** The servers that are compared, each serving `n` names h0…h(n-1).example.test, each name one A record. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { askAll } from '../../test/integration/dns/ask.ts';
import { startKnot, zoneFile } from '../../test/integration/dns/reference-servers.ts';
import { ensureCoreDns } from '../../test/support/install/coredns.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import { residentMegabytes, startServer, waitFor } from '../../src/store/embedded/process.ts';
import { workspace } from '../../test/support/workspace.ts';
import { buildProgram } from '../proxy/program.ts';
import { DNS_NODE_OPTIONS } from '../../src/control/discover/install.ts';
import { recordsOf, ZONE } from './records.ts';
import type { DnsTools } from '../../test/integration/dns/tools.ts';

export interface Subject extends AsyncDisposable {
  name: string;
  port: number;
  pid: number;
  memory(): Promise<number>;
}

async function untilAnswering(port: number, running: () => boolean): Promise<void> {
  const ask = async () => {
    const [answer] = await askAll(port, [{ name: `h0.${ZONE}`, type: 'A' }]).catch(() => []);
    return answer !== undefined && (answer[3]! & 15) === 0;
  };
  await waitFor('server', ask, { abort: () => (running() ? undefined : 'ended') });
}

async function launch(
  name: string,
  prepare: (folder: string, port: number) => Promise<{ command: string; args: string[] }>,
): Promise<Subject> {
  const folder = workspace(name);
  const ports = await reservePorts(1);
  const [port] = ports.numbers as [number];
  const { command, args } = await prepare(folder, port);
  const server = startServer(name, command, args, { logFile: join(folder, 'log') });
  await untilAnswering(port, () => server.running);
  return {
    name,
    port,
    pid: server.pid,
    memory: () => residentMegabytes(server.pid),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await ports.release();
    },
  };
}

let building: Promise<string> | undefined;

/** Our program, compiled once. */
export function compiled(): Promise<string> {
  return (building ??= buildProgram());
}

/** Ours, compiled and with the options of its pods, everything switched on: EDNS and cookies always are, so are metrics; the rate limit exempts nobody. */
export function startIsthmus(
  udp: 'fast' | 'portable',
  names: number,
  updatesPerSecond = 0,
): Promise<Subject> {
  return launch(`isthmus-${udp}`, async (folder, port) => {
    const config = {
      listen: [`127.0.0.1:${port}`],
      zones: [{ name: ZONE }],
      udp,
      rateLimit: { responsesPerSecond: 10_000_000, exempt: [] },
    };
    await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
    const dist = dirname(await compiled());
    const script = join(import.meta.dirname, 'serve.mjs');
    const flags = process.env['ISTHMUS_BENCH_NODE_FLAGS'] ?? DNS_NODE_OPTIONS;
    return {
      command: process.execPath,
      args: [
        ...flags.split(' ').filter(Boolean),
        script,
        dist,
        join(folder, 'config.yaml'),
        String(names),
        String(updatesPerSecond),
      ],
    };
  });
}

/** CoreDNS with nothing but the one plugin that answers. */
export function startCoreDns(plugin: 'file' | 'hosts', names: number): Promise<Subject> {
  return launch(`coredns-${plugin}`, async (folder, port) => {
    const data = join(folder, 'data');
    const records = recordsOf(names);
    const hosts = records.map(({ name, data: address }) => `${address} ${name}\n`).join('');
    await writeFile(data, plugin === 'file' ? zoneFile({ name: ZONE, records }) : hosts);
    await writeFile(
      join(folder, 'Corefile'),
      `${ZONE}:${port} {\n  bind 127.0.0.1\n  ${plugin} ${data}\n}\n`,
    );
    return { command: await ensureCoreDns(), args: ['-conf', join(folder, 'Corefile')] };
  });
}

/** Knot DNS with one UDP worker. */
export async function startKnotSubject(tools: DnsTools, names: number): Promise<Subject> {
  const knot = await startKnot(tools, [{ name: ZONE, records: recordsOf(names) }]);
  return Object.assign(knot, { name: 'knot', memory: () => residentMegabytes(knot.pid) });
}
