/**
 * The DNS of a cluster that has an API server only: a real CoreDNS, to which the configuration is carried as the kubelet would.
 * OpenShift's operator and kube-dns cannot be had from any registry: what they would make of their objects is made here. So is the Corefile
 * that NodeLocal DNSCache (itself a CoreDNS) writes from its template and the stub domains of kube-dns: its module, k8s.io/dns, is not on the Go module proxy. The real
 * one, built by hand from its repository (January 2026, CoreDNS 1.13.2), took what we write, in its Corefile or as stub domains, and gave it up again, each
 * within 12 s: it looks for changes every ten.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../../src/kube/http/client.ts';
import { ensureCoreDns } from '../../support/install/coredns.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { asking } from './site.ts';

export interface ClusterDnsServer extends AsyncDisposable {
  readonly address: string;
  readonly ask: ReturnType<typeof asking>;
  /** Says whether what is written in the cluster gets here; when it resolves, nothing else is under way. */
  setCarried(yes: boolean): Promise<void>;
}

/** What CoreDNS finds in its directory, by file name. */
export type Files = Record<string, string>;

export interface Objects {
  coredns?: { data?: Record<string, string> };
  custom?: { data?: Record<string, string> };
  kubeDns?: { data?: Record<string, string> };
  nodeCache?: { data?: Record<string, string> };
  operator?: { spec?: { servers?: { zones: string[]; forwardPlugin: { upstreams: string[] } }[] } };
}

/** A Corefile that answers nothing by itself, and looks for changes as often as it may. */
export function plainCorefile(port: number, more = ''): string {
  return `.:${port} {\n    errors\n    reload 2s 1s\n}\n${more}`;
}

/** The files that each platform makes of its objects. */
export const RENDERERS: Record<string, (objects: Objects, port: number) => Files> = {
  corefile: ({ coredns }, port) => ({ Corefile: coredns?.data?.['Corefile'] ?? plainCorefile(port) }),
  'coredns-custom': ({ coredns, custom }, port) => ({
    ...custom?.data,
    Corefile: coredns?.data?.['Corefile'] ?? plainCorefile(port),
  }),
  'kube-dns': (objects, port) => ({ Corefile: plainCorefile(port, stubDomains(objects, port)) }),
  // The servers outside, which it asks for everything but the cluster's own names, know nothing of our zones.
  'node-local-dns': (objects, port) => {
    const base = (objects.nodeCache?.data?.['Corefile'] ?? '')
      .replaceAll('__PILLAR__CLUSTER__DNS__', '127.0.0.1:1')
      .replaceAll(
        'forward . __PILLAR__UPSTREAM__SERVERS__',
        'template ANY ANY {\n        rcode NXDOMAIN\n    }',
      );
    return { Corefile: base + stubDomains(objects, port, '    bind 127.0.0.1\n') };
  },
  openshift: ({ operator }, port) => {
    const blocks = (operator?.spec?.servers ?? []).flatMap(({ zones, forwardPlugin }) =>
      zones.map((zone) => forwarding(zone, port, forwardPlugin.upstreams)),
    );
    return { Corefile: plainCorefile(port, blocks.join('')) };
  },
};

function stubDomains({ kubeDns }: Objects, port: number, more = ''): string {
  const table = JSON.parse(kubeDns?.data?.['stubDomains'] ?? '{}') as Record<string, string[]>;
  return Object.entries(table)
    .map(([zone, servers]) => forwarding(zone, port, servers, more))
    .join('');
}

function forwarding(zone: string, port: number, servers: readonly string[], more = ''): string {
  return `${zone}:${port} {\n${more}    forward . ${servers.join(' ')}\n}\n`;
}

async function readObjects(client: Client): Promise<Objects> {
  const configMap = (name: string) =>
    client.get({ group: '', version: 'v1', kind: 'ConfigMap' }, { namespace: 'kube-system', name });
  const operator = { group: 'operator.openshift.io', version: 'v1', kind: 'DNS' };
  const objects = {
    coredns: await configMap('coredns'),
    custom: await configMap('coredns-custom'),
    kubeDns: await configMap('kube-dns'),
    nodeCache: await configMap('node-local-dns'),
    operator: await client.get(operator, { name: 'default' }).catch(() => undefined),
  };
  return objects as Objects;
}

/** Starts CoreDNS on a port of its own; `prepare` puts the objects of the platform there. */
export async function startClusterDns(
  client: Client,
  platform: string,
  prepare: (port: number, directory: string) => Promise<void>,
): Promise<ClusterDnsServer> {
  const program = await ensureCoreDns();
  const ports = await reservePorts(1);
  const [port = 0] = ports.numbers;
  const directory = join(workspace(`cluster-dns-${platform}`), 'config');
  await mkdir(directory, { recursive: true });
  await prepare(port, directory);
  const stopped = new AbortController();
  let isCarried = true;
  let carrying: Promise<void> = Promise.resolve();

  async function carry(): Promise<void> {
    const files = RENDERERS[platform]!(await readObjects(client), port);
    // In one step, as the kubelet does it: CoreDNS must never see half of a file.
    const draft = join(directory, '..', 'draft');
    for (const [name, text] of Object.entries(files)) {
      await writeFile(draft, text);
      await rename(draft, join(directory, name));
    }
    for (const name of await readdir(directory)) if (!(name in files)) await rm(join(directory, name));
  }
  await carry();
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      if (isCarried) await (carrying = carry().catch(() => undefined));
    }
  })();
  const server = startServer('coredns', program, ['-conf', join(directory, 'Corefile')], {
    logFile: join(directory, '..', 'coredns.log'),
  });
  return {
    address: `127.0.0.1:${port}`,
    ask: asking(port),
    async setCarried(yes) {
      isCarried = yes;
      await carrying;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await loop;
      await server.stop();
      await ports.release();
    },
  };
}
