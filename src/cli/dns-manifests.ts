import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { DelegationSettings } from '../control/discover/delegation/settings.ts';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import type { Manifest } from '../control/install/objects.ts';
import type { DnsConfig } from '../dns/server/config.ts';
import { VERSION } from '../ops/version.ts';
import { parseCount, parseImage, parseNamespace } from './arguments.ts';
import type { Terminal } from './terminal.ts';

interface ManifestFlags {
  config: string;
  namespace: string;
  image: string;
  version?: string | undefined;
  replicas: number;
  crds?: boolean;
  podMonitor?: boolean;
}

/** `isthmus dns manifests`: prints what runs the DNS server in a cluster; it touches no cluster itself. */
export function dnsManifestsCommand(terminal: Terminal): Command {
  return new Command('manifests')
    .description(
      'print what runs the DNS server in a cluster with this configuration, for `kubectl apply -f -`',
    )
    .option('-n, --namespace <name>', 'where it runs; it must be there', parseNamespace, 'isthmus-system')
    .option('--image <reference>', 'the container image', parseImage, `isthmus:${VERSION}`)
    .option('--replicas <n>', 'how many pods answer', parseCount, 2)
    .option('--crds', 'also the CRDs of ServiceExport and ServiceImport')
    .option('--pod-monitor', 'also a PodMonitor, for a cluster with the Prometheus operator')
    .action(async (_flags: object, command: Command) => {
      const {
        config: file,
        crds = false,
        podMonitor = false,
        ...options
      } = command.optsWithGlobals<ManifestFlags>();
      const warn = (text: string) => terminal.err(`isthmus: ${text}\n`);
      const manifests = await manifestsOfConfig(file, { ...options, version: VERSION }, warn);
      const monitor = podMonitor ? [await dnsMonitor(options.namespace)] : [];
      const items = [...(crds ? await multiClusterCrds() : []), ...manifests, ...monitor];
      const { yamlOf } = await import('../control/install/objects.ts');
      terminal.out(yamlOf(items));
    });
}

async function dnsMonitor(namespace: string): Promise<Manifest> {
  const { DNS_COMPONENT, DNS_NAME } = await import('../control/discover/install.ts');
  const { partMonitor } = await import('../control/install/pod-monitor.ts');
  return partMonitor(DNS_COMPONENT, DNS_NAME, namespace);
}

/** What runs the DNS server with the configuration in this file. */
export async function manifestsOfConfig(
  file: string,
  options: Omit<ManifestFlags, 'config' | 'crds' | 'podMonitor'>,
  warn: (text: string) => void = () => {},
): Promise<Manifest[]> {
  const { loadDnsCommandConfig } = await import('./dns-config.ts');
  const { TSIG_DIRECTORY } = await import('../control/discover/install.ts');
  const { dns, kubernetes } = loadDnsCommandConfig(file, {}); // an error here is one that the pods would die of
  const isMounted = (path: string) => path.startsWith(`${TSIG_DIRECTORY}/`);
  for (const path of filesOf(dns, kubernetes).filter((one) => !isMounted(one)))
    warn(
      `${file} names ${path}, which the pods do not have unless you mount it there; records can stand in the configuration itself, and clusters be joined by Secrets`,
    );
  const tsig = dns.tsigKeys.some(({ secretFile }) => isMounted(secretFile));
  return manifestsOf(readFileSync(file, 'utf8'), kubernetes, { ...options, tsig });
}

/** What runs the DNS server with the configuration in this text, of which one section was read already. */
export async function manifestsOf(
  config: string,
  kubernetes: DiscoverSettings | undefined,
  options: Omit<ManifestFlags, 'config' | 'crds' | 'podMonitor'> & { tsig?: boolean },
): Promise<Manifest[]> {
  const { dnsManifests } = await import('../control/discover/install.ts');
  const { import: imports, importNamespace, reach = 'pods' } = kubernetes ?? {};
  const manifests = dnsManifests({ ...options, imports, importNamespace, reach, config });
  return [
    ...manifests.map(rolledBy(config)),
    ...(await delegationRights(kubernetes?.delegation, options.namespace)),
  ];
}

/** The kinds that exports and imports are of. */
async function multiClusterCrds(): Promise<object[]> {
  const { crdOf } = await import('../resources/crd.ts');
  const { serviceExport } = await import('../resources/multicluster/service-export.ts');
  const { serviceImport } = await import('../resources/multicluster/service-import.ts');
  return [serviceExport, serviceImport].map((kind) => crdOf(kind));
}

/** Pods read the configuration when they start: another configuration has to make other pods. */
function rolledBy(config: string): (manifest: Manifest) => Manifest {
  const annotations = {
    'isthmus.dns/config': createHash('sha256').update(config).digest('hex').slice(0, 16),
  };
  return (manifest) => {
    if (manifest.kind !== 'Deployment') return manifest;
    const spec = manifest['spec'] as { template: { metadata: object } };
    const metadata = { ...spec.template.metadata, annotations };
    return { ...manifest, spec: { ...spec, template: { ...spec.template, metadata } } };
  };
}

/** Files that the configuration names. */
function filesOf({ recordsFile, tsigKeys }: DnsConfig, kubernetes: DiscoverSettings | undefined): string[] {
  const joined = kubernetes?.clusters.map(({ kubeconfig }) => kubeconfig) ?? [];
  const secrets = tsigKeys.map(({ secretFile }) => secretFile);
  return [recordsFile, kubernetes?.kubeconfig, ...joined, ...secrets].filter((path) => path !== undefined);
}

/** None where the cluster's DNS is left alone. */
async function delegationRights(
  settings: DelegationSettings | undefined,
  namespace: string,
): Promise<Manifest[]> {
  if (settings === undefined) return [];
  const { delegationManifests } = await import('../control/discover/delegation/install.ts');
  const { optionsOf } = await import('../control/discover/delegation/settings.ts');
  const { DNS_NAME } = await import('../control/discover/install.ts');
  return delegationManifests({ name: DNS_NAME, namespace }, optionsOf(settings));
}
