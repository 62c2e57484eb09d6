/** Knot DNS and BIND on loopback, serving given zones, or as secondaries of ours. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from './ask.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import type { DnsTools } from './tools.ts';

/** One zone as all servers get it. */
export interface ReferenceZone {
  name: string;
  records: readonly DnsRecord[];
}

export interface ReferenceServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** The zone as a master file; SOA and NS as our own configuration makes them. */
export function zoneFile({ name, records }: ReferenceZone): string {
  const absolute = (text: string) => (text.endsWith('.') ? text : `${text}.`);
  const lines = records.map(({ name: owner, type, data, ttl }) => {
    const named = ['CNAME', 'NS', 'PTR', 'SRV'].includes(type);
    return `${absolute(owner)} ${ttl ?? 30} IN ${type} ${named ? absolute(data) : data}`;
  });
  return [
    `${name}. 30 IN SOA ns.${name}. hostmaster.${name}. 1 3600 600 86400 10`,
    `${name}. 30 IN NS ns.${name}.`,
    ...lines,
    '',
  ].join('\n');
}

async function writeZones(folder: string, zones: readonly ReferenceZone[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(zones.map((zone) => writeFile(join(folder, `${zone.name}.zone`), zoneFile(zone))));
}

/** Waits until every zone is answered for: servers begin before they have read them all, and read them in an order of their own. */
async function untilServing(server: Server, port: number, zones: readonly ReferenceZone[]): Promise<void> {
  const questions = zones.map(({ name }) => ({ name, type: 'SOA' }));
  await waitFor(
    `${server.name} (log: ${server.logFile})`,
    async () => {
      const answers = await askAll(port, questions).catch(() => []);
      return answers.length > 0 && answers.every((answer) => (answer[3]! & 15) === 0);
    },
    { abort: () => (server.running ? undefined : `ended; see ${server.logFile}`) },
  );
}

type Launch = (folder: string, port: number, controlPort: number) => Promise<Server>;

async function launch(
  name: string,
  zones: readonly ReferenceZone[],
  start: Launch,
): Promise<ReferenceServer> {
  const folder = workspace(name);
  await writeZones(join(folder, 'zones'), zones);
  const ports = await reservePorts(2);
  const [port, controlPort] = ports.numbers as [number, number];
  const server = await start(folder, port, controlPort);
  const stop = async () => {
    await server.stop();
    await ports.release();
  };
  try {
    await untilServing(server, port, zones);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { port, pid: server.pid, [Symbol.asyncDispose]: stop };
}

/** Starts Knot DNS. */
export function startKnot(tools: DnsTools, zones: readonly ReferenceZone[]): Promise<ReferenceServer> {
  return launch('knot', zones, async (folder, port) => {
    const config = `
server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    edns-client-subnet: off
log:
  - target: stderr
    any: warning
database:
    storage: ${folder}/db
template:
  - id: default
    storage: ${folder}/zones
    file: "%s.zone"
    semantic-checks: off
    journal-content: none
zone:
${zones.map(({ name }) => `  - domain: ${name}`).join('\n')}
`;
    await writeFile(join(folder, 'knot.conf'), config);
    const logFile = join(folder, 'knot.log');
    return startServer('knotd', 'knotd', ['-c', join(folder, 'knot.conf')], { logFile, env: tools.env });
  });
}

/** Starts BIND. `minimal-responses no-auth` is what we do: nothing in the authority section that is not needed. */
export function startBind(tools: DnsTools, zones: readonly ReferenceZone[]): Promise<ReferenceServer> {
  return launch('bind', zones, async (folder, port) => {
    const config = `
options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; allow-query { any; }; allow-transfer { 127.0.0.1; }; notify no; dnssec-validation no;
  minimal-responses no-auth; minimal-any yes; zero-no-soa-ttl no; rrset-order { order none; };
  check-integrity no; check-sibling no; check-srv-cname ignore; check-names primary ignore;
  check-mx-cname ignore; zone-statistics none;
};
controls { };
logging { channel all { file "${folder}/named.messages"; severity warning; }; category default { all; }; };
${zones.map(({ name }) => `zone "${name}" { type primary; file "zones/${name}.zone"; };`).join('\n')}
`;
    await writeFile(join(folder, 'named.conf'), config);
    const logFile = join(folder, 'named.log');
    return startServer('named', 'named', ['-g', '-n', '1', '-c', join(folder, 'named.conf')], {
      logFile,
      env: tools.env,
    });
  });
}
