import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import type { Manifest } from '../control/install/objects.ts';
import type { OperatorRoad } from '../control/roads.ts';
import { VERSION } from '../ops/version.ts';
import type { ForeignProject } from '../resources/kind.ts';
import { parseCount, parseImage, parseList, parseNamespace } from './arguments.ts';
import {
  externalDnsOption,
  filterModulesOption,
  kafkaImageOption,
  namespacesOption,
  probeNetworksOption,
  probeResolverOption,
  roadsOption,
} from './operator.ts';
import type { Terminal } from './terminal.ts';

interface InstallFlags {
  namespace: string;
  image: string;
  replicas: number;
  roads: OperatorRoad[];
  watchNamespaces: string[];
  filterModules: string[];
  kafkaImage: Record<string, string>;
  probeResolver?: string;
  probeNetworks?: string[];
  externalDnsMetrics?: string;
  podMonitor?: boolean;
  output: 'yaml' | 'json';
  crds: Crds;
}

/** The projects whose CRDs are printed beside ours; or none at all. */
type Crds = readonly ForeignProject[] | 'none';

const PROJECTS = ['strimzi', 'redpanda', 'external-dns', 'mcs'] as const satisfies ForeignProject[];

const OWN_NAMESPACE = 'isthmus-system';

/**
 * A namespace of another name is perhaps shared with others. What is applied would put our rules on all its pods, and what is
 * deleted later would take everything in it along.
 */
const isOurs = ({ kind, metadata }: Manifest) => kind !== 'Namespace' || metadata.name === OWN_NAMESPACE;

/** `isthmus install`: prints what to pipe into kubectl; it touches no cluster itself. */
export function installCommand(terminal: Terminal): Command {
  return new Command('install')
    .description('print the CRDs and manifests of the operator, to pipe into `kubectl apply -f -`')
    .option(
      '-n, --namespace <name>',
      'the operator’s namespace; any other than the default must be there',
      parseNamespace,
      OWN_NAMESPACE,
    )
    .option('--image <reference>', 'the container image', parseImage, `isthmus:${VERSION}`)
    .option('--replicas <n>', 'operator pods; one leads, the others wait', parseCount, 2)
    .addOption(roadsOption())
    .addOption(namespacesOption('look only into these, which must be there, and have rights nowhere else'))
    .addOption(filterModulesOption())
    .addOption(kafkaImageOption())
    .addOption(probeResolverOption())
    .addOption(probeNetworksOption())
    .addOption(externalDnsOption())
    .option(
      '--pod-monitor',
      'also a PodMonitor, for a cluster with the Prometheus operator: metrics of brokers',
    )
    .addOption(crdsOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .action(
      async ({ crds, output, kafkaImage: kafkaImages, podMonitor: isMonitored, ...flags }: InstallFlags) => {
        const options = { ...flags, kafkaImages };
        const { operatorManifests } = await import('../control/install/manifests.ts');
        const { personaManifests } = await import('../control/install/personas.ts');
        const { filterProtection } = await import('../control/install/protected-filters.ts');
        const { infrastructurePolicy } = await import('../control/install/infrastructure-policy.ts');
        const { crdOf } = await import('../resources/crd.ts');
        const { kindsToInstall } = await import('../resources/registry.ts');
        const { ROADS } = await import('../resources/kind.ts');
        const kinds = crds === 'none' ? [] : kindsToInstall(ROADS, crds);
        // Of the whole cluster, too, and about the kinds.
        const aboutKinds =
          crds === 'none' ? [] : [...infrastructurePolicy(), ...personaManifests(), ...filterProtection()];
        const { podMonitor } = await import('../control/install/pod-monitor.ts');
        const monitors = isMonitored ? [podMonitor(flags.namespace, flags.watchNamespaces)] : [];
        const operator = operatorManifests(options).filter(isOurs);
        const items = [...kinds.map(crdOf), ...aboutKinds, ...operator, ...monitors];
        if (output === 'json')
          terminal.out(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`);
        else
          terminal.out(
            items.map((item) => `---\n${stringify(item, { aliasDuplicateObjects: false })}`).join(''),
          );
      },
    );
}

function crdsOption(): Option {
  const projects = PROJECTS.join(',');
  return new Option(
    '--crds <which>',
    `own; ${projects}: also those of these projects, for clusters that do not have them; all: of all these; none: nor the roles for people`,
  )
    .argParser(parseCrds)
    .default([], 'own');
}

/** Reads `own`, `all`, `none`, or a list of projects. */
function parseCrds(text: string): Crds {
  const words = parseList(text).filter((word) => word !== 'own');
  if (words.length === 1 && words[0] === 'none') return 'none';
  if (words.length === 1 && words[0] === 'all') return PROJECTS;
  const unknown = words.filter((word) => !PROJECTS.includes(word as ForeignProject));
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `"${unknown.join(', ')}" cannot be combined or is unknown; choose own, all, none, or of ${PROJECTS.join(', ')}.`,
    );
  return words as ForeignProject[];
}
