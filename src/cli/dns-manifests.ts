import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { stringify } from 'yaml';
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
  replicas: number;
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
    .action(async (_flags: object, command: Command) => {
      const { config: file, ...options } = command.optsWithGlobals<ManifestFlags>();
      const { loadDnsCommandConfig } = await import('./dns-config.ts');
      const { TSIG_DIRECTORY, dnsManifests } = await import('../control/discover/install.ts');
      const { dns, kubernetes } = loadDnsCommandConfig(file, {}); // an error here is one that the pods would die of
      const isMounted = (path: string) => path.startsWith(`${TSIG_DIRECTORY}/`);
      for (const path of filesOf(dns, kubernetes).filter((one) => !isMounted(one)))
        terminal.err(
          `isthmus: ${file} names ${path}, which the pods do not have unless you mount it there; records can stand in the configuration itself, and clusters be joined by Secrets\n`,
        );
      const { import: imports, importNamespace, reach = 'pods' } = kubernetes ?? {};
      const config = readFileSync(file, 'utf8');
      const tsig = dns.tsigKeys.some(({ secretFile }) => isMounted(secretFile));
      const manifests = dnsManifests({ ...options, imports, importNamespace, reach, tsig, config }).map(
        rolledBy(config),
      );
      manifests.push(...(await delegationRights(kubernetes?.delegation, options.namespace)));
      for (const item of manifests) terminal.out(`---\n${stringify(item, { aliasDuplicateObjects: false })}`);
    });
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
