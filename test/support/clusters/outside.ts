/** The outside: a machine on the internet, which sees only public addresses, and the internet's DNS server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCoreDns } from '../install/coredns.ts';
import { run as runCommand, startServer, waitFor } from '../process.ts';
import type { Finished, RunOptions, Server } from '../process.ts';
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

export interface InternetNames {
  hosts: ReadonlyMap<string, readonly string[]>;
  zones: ReadonlyMap<string, string>;
}

/** The configuration of the internet's DNS server: what nobody told it does not exist. */
export function internetCorefile({ hosts, zones }: InternetNames): string {
  const lines = [...hosts].flatMap(([name, addresses]) =>
    addresses.map((address) => `    ${address} ${name}`),
  );
  const known = ['  hosts {', ...lines, '    ttl 1', '    fallthrough', '  }'];
  const rest = ['  template ANY ANY {', '    rcode NXDOMAIN', '  }'];
  const root = ['.:53 {', `  bind ${OUTSIDE.dns}`, '  errors', ...known, ...rest, '}'];
  const delegated = [...zones].flatMap(([zone, server]) => [
    `${zone}:53 {`,
    `  bind ${OUTSIDE.dns}`,
    '  errors',
    `  forward . ${server} {`,
    '    max_fails 0',
    '  }',
    '}',
  ]);
  return [...root, ...delegated, ''].join('\n');
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
  const resolver = join(run.directory, 'internet.resolv.conf');
  const logFile = join(logs, 'internet-dns.log');
  await writeFile(resolver, `nameserver ${OUTSIDE.dns}\n`);
  await writeFile(corefile, internetCorefile({ hosts, zones }));
  const dns = await startInternetDns(namespace, corefile, logFile);

  let reloads = 0;
  async function reload(): Promise<void> {
    await writeFile(corefile, internetCorefile({ hosts, zones }));
    reloads += 1;
    process.kill(dns.pid, 'SIGUSR1');
    const done = async () =>
      (await readFile(logFile, 'utf8')).split('Reloading complete').length - 1 >= reloads;
    await waitFor('reload of the DNS server of the outside', done, { abort: () => ended(dns) });
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
