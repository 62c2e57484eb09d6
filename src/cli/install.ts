import { Command, InvalidArgumentError, Option } from 'commander';
import type { Crds } from '../control/install/installation.ts';
import type { Toleration } from '../control/install/manifests.ts';
import type { Manifest } from '../control/install/objects.ts';
import type { OperatorRoad } from '../control/roads.ts';
import { LOG_LEVELS } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import { VERSION } from '../ops/version.ts';
import type { ForeignProject } from '../resources/kind.ts';
import { parseCount, parseImage, parseList, parseNamespace } from './arguments.ts';
import {
  clusterIdOption,
  externalDnsOption,
  filterModulesOption,
  kafkaImageOption,
  namespacesOption,
  probeFromOption,
  probeNetworksOption,
  probeResolverOption,
  roadsOption,
} from './operator.ts';
import { nodeSelectorOption, pullSecretsOption, tolerationOption } from './pod-options.ts';
import type { Terminal } from './terminal.ts';

interface InstallFlags {
  namespace: string;
  image: string;
  replicas: number;
  roads: OperatorRoad[];
  watchNamespaces: string[];
  filterModules: string[];
  kafkaImage: Record<string, string>;
  clusterId?: string;
  probeResolver?: string;
  probeNetworks?: string[];
  probeFrom?: string[];
  externalDnsMetrics?: string;
  podMonitor?: boolean;
  console?: boolean;
  proxyImage?: string;
  clusterDomain?: string;
  logLevel?: LogLevel;
  imagePullSecrets?: { name: string }[];
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  priorityClassName?: string;
  output: 'yaml' | 'json';
  crds: Crds;
}

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
    .addOption(clusterIdOption())
    .addOption(probeResolverOption())
    .addOption(probeNetworksOption())
    .addOption(probeFromOption())
    .addOption(externalDnsOption())
    .option(
      '--pod-monitor',
      'also PodMonitors, for a cluster with the Prometheus operator: metrics of the operator and of brokers',
    )
    .option('--console', 'also the console, for all who log in with a token of the cluster')
    .option('--proxy-image <reference>', 'what proxies run (default: the same image)', parseImage)
    .option('--cluster-domain <name>', 'the domain of the cluster’s Services (default: cluster.local)')
    .addOption(
      new Option('--log-level <level>', 'how much the operator logs (default: info)').choices(LOG_LEVELS),
    )
    .addOption(pullSecretsOption())
    .addOption(nodeSelectorOption())
    .addOption(tolerationOption())
    .option('--priority-class-name <name>', 'the PriorityClass of the operator’s pods')
    .addOption(crdsOption())
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'))
    .action(
      async ({ crds, output, kafkaImage: kafkaImages, podMonitor, console, ...flags }: InstallFlags) => {
        const { installation } = await import('../control/install/installation.ts');
        const { yamlOf } = await import('../control/install/objects.ts');
        const choice = { crds, podMonitor: podMonitor ?? false, console: console ?? false };
        const items = installation({ ...flags, kafkaImages, version: VERSION }, choice).filter(isOurs);
        if (output === 'json')
          terminal.out(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`);
        else terminal.out(yamlOf(items));
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
