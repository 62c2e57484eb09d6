/** The outside: a machine on the internet, which sees only public addresses, and the internet's DNS server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCoreDns } from '../install/coredns.ts';
import { run as runCommand, startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished, RunOptions, Server } from '../../../src/store/embedded/process.ts';
import { OUTSIDE } from './addresses.ts';
import { ended } from './machine.ts';
import type { Namespace } from './namespaces.ts';
import type { Run } from './run.ts';

export interface Outside {
  readonly name: 'outside';
  readonly address: string;
  /** Runs a command there, to its end. A non-zero code is a result. Names are asked of the internet's DNS server. */
  run(command: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Starts a server there. Whoever starts it stops it. */
  serve(name: string, command: readonly string[], env?: Record<string, string>): Server;
  /** Makes the internet know a name, and no other of the same spelling. */
  setName(name: string, addresses: readonly string[]): Promise<void>;
  /** Sends questions about a zone to another server. */
  delegate(zone: string, server: string): Promise<void>;
  stop(): Promise<void>;
}

/** The zone of everything: what is not in it does not exist. */
export function internetZone(hosts: ReadonlyMap<string, readonly string[]>): string {
  const records = [...hosts].flatMap(([name, addresses]) =>
    addresses.map((address) => `${name}. 1 IN ${address.includes(':') ? 'AAAA' : 'A'} ${address}`),
  );
  const server = 'ns.internet.';
  return [
    `. 1 IN SOA ${server} nobody.internet. 1 60 60 60 1`,
    `. 1 IN NS ${server}`,
    `${server} 1 IN A ${OUTSIDE.dns}`,
    ...records,
    '',
  ].join('\n');
}

/** The configuration of the internet's DNS server, with the zones that others answer for. */
export function internetCorefile(zoneFile: string, delegated: ReadonlyMap<string, string>): string {
  const block = (zone: string, plugin: string) =>
    `${zone}:53 {\n  bind ${OUTSIDE.dns}\n  errors\n  ${plugin}\n}\n`;
  const others = [...delegated].map(([zone, server]) => block(zone, `forward . ${server}`));
  return [block('.', `file ${zoneFile} .`), ...others].join('');
}

async function startInternetDns(namespace: Namespace, corefile: string, logFile: string): Promise<Server> {
  const [program, ...args] = namespace.enter([await ensureCoreDns(), '-conf', corefile]);
  const server = startServer('internet DNS', program, args, { logFile });
  const serves = async () => (await readFile(logFile, 'utf8').catch(() => '')).includes('CoreDNS-');
  await waitFor('the DNS server of the outside', serves, { abort: () => ended(server) });
  return server;
}

/** Brings the outside to life. */
export async function startOutside(run: Run, namespace: Namespace, logs: string): Promise<Outside> {
  const hosts = new Map<string, readonly string[]>();
  const zones = new Map<string, string>();
  const corefile = join(run.directory, 'internet.corefile');
  const zoneFile = join(run.directory, 'internet.zone');
  const resolver = join(run.directory, 'internet.resolv.conf');
  const logFile = join(logs, 'internet-dns.log');
  await writeFile(resolver, `nameserver ${OUTSIDE.dns}\n`);
  const writeFiles = async () => {
    await writeFile(zoneFile, internetZone(hosts));
    await writeFile(corefile, internetCorefile(zoneFile, zones));
  };
  await writeFiles();
  const dns = await startInternetDns(namespace, corefile, logFile);

  async function reloadOnce(): Promise<void> {
    const reloads = async () => (await readFile(logFile, 'utf8')).split('Reloading complete').length - 1;
    const before = await reloads();
    await writeFiles();
    process.kill(dns.pid, 'SIGUSR1');
    const isDone = async () => (await reloads()) > before;
    await waitFor('reload of the DNS server of the outside', isDone, { abort: () => ended(dns) });
  }
  let last: Promise<void> = Promise.resolve();
  /** One after the other: two signals that come at once are one to the server. */
  function reload(): Promise<void> {
    last = last.then(reloadOnce, reloadOnce);
    return last;
  }

  /** In a mount namespace of its own, so that the machine's resolver stays what it is. */
  const inside = (command: readonly string[]) => {
    const script = `mount --bind ${resolver} /etc/resolv.conf && exec "$@"`;
    return namespace.enter(['unshare', '--mount', '--', 'sh', '-c', script, 'sh', ...command]);
  };

  return {
    name: 'outside',
    address: OUTSIDE.client,
    run(command, options) {
      const [program, ...args] = inside(command);
      return runCommand(program, args, options);
    },
    serve(name, command, env = {}) {
      const [program, ...args] = inside(command);
      return startServer(`outside ${name}`, program, args, { logFile: join(logs, `${name}.log`), env });
    },
    async setName(name, addresses) {
      hosts.set(name, addresses);
      await reload();
    },
    async delegate(zone, server) {
      zones.set(zone, server);
      await reload();
    },
    stop: () => dns.stop('SIGKILL'),
  };
}
