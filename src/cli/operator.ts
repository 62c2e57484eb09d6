import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_ROADS, OPERATOR_ROADS } from '../control/roads.ts';
import type { OperatorRoad } from '../control/roads.ts';
import type { TargetSettings } from '../control/targets/settings.ts';
import { IsthmusError } from '../ops/errors.ts';
import { createLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import {
  logLevelOption,
  parseClusterId,
  parseClusterIds,
  parseList,
  parseNamespace,
  parseNamespaces,
  parseNetworks,
  parsePackages,
  parsePort,
  parseHttpUrl,
  parseResolver,
  parseVersionedImage,
} from './arguments.ts';
import type { Terminal } from './terminal.ts';
import { untilStopped } from './terminal.ts';

interface OperatorFlags {
  roads: OperatorRoad[];
  namespace?: string;
  kubeconfig?: string;
  context?: string;
  managementHost: string;
  managementPort: number;
  metricsTokenFile?: string;
  logLevel: LogLevel;
  proxyImage?: string;
  clusterDomain: string;
  watchNamespaces: string[];
  filterModules: string[];
  kafkaImage: Record<string, string>;
  probeResolver?: string;
  probeNetworks?: string[];
  probeFrom?: string[];
  externalDnsMetrics?: string;
  clusterId?: string;
}

/** `isthmus operator`: the control plane, in a cluster or beside it. */
export function operatorCommand(_terminal: Terminal): Command {
  return new Command('operator')
    .description('run the control plane, in a cluster or with a kubeconfig')
    .addOption(roadsOption())
    .option(
      '-n, --namespace <name>',
      'where the leader Lease lives (default: $POD_NAMESPACE, then the context’s)',
      parseNamespace,
    )
    .option(
      '--kubeconfig <file>',
      'how to reach the cluster (default: $KUBECONFIG, then ~/.kube/config, then the pod’s own account)',
    )
    .option('--context <name>', 'the kubeconfig context to use')
    .option('--management-host <address>', 'where /livez, /readyz and /metrics are served', '::')
    .option('--management-port <port>', 'and on which port', parsePort, 8080)
    .option(
      '--metrics-token-file <file>',
      'the bearer token that /metrics takes (default: /metrics is for this machine alone)',
    )
    .option('--proxy-image <reference>', 'what proxies run (default: $ISTHMUS_IMAGE)')
    .addOption(clusterIdOption())
    .option('--cluster-domain <name>', 'the domain of the cluster’s Services', 'cluster.local')
    .addOption(
      namespacesOption('look for resources, and for what they refer to, only in these, separated by commas'),
    )
    .addOption(filterModulesOption())
    .addOption(kafkaImageOption())
    .addOption(probeResolverOption())
    .addOption(probeNetworksOption())
    .addOption(probeFromOption())
    .addOption(externalDnsOption())
    .addOption(logLevelOption())
    .action(async (flags: OperatorFlags) => {
      const { startOperator } = await import('../control/operator.ts');
      const stopped = untilStopped(); // from the start on: a pod may be told to go before it has come up
      const log = createLog(flags.logLevel, { role: 'operator' });
      const { proxyChecks } = await import('../store/proxy-checks.ts');
      const targets = await targetSettings(flags.clusterId);
      const operator = await startOperator({
        ...flags,
        kafkaImages: flags.kafkaImage,
        identity: process.env.POD_NAME,
        checks: proxyChecks,
        targets,
        log,
      });
      log.info({ signal: await stopped }, 'stopping');
      await operator.stop();
    });
}

/** What the environment says of other clusters. */
async function targetSettings(clusterId: string | undefined): Promise<TargetSettings> {
  const { readTargetSettings } = await import('../control/targets/settings.ts');
  const given = clusterId === undefined ? {} : { STRIMZI_CENTRAL_CLUSTER_ID: clusterId };
  const result = readTargetSettings({ ...process.env, ...given });
  if ('faults' in result) throw new IsthmusError('CONFIG_INVALID', result.faults.join('\n'));
  return result.settings;
}

/** The `--roads` option. */
export function roadsOption(): Option {
  return new Option('--roads <list>', `which roads to serve, of ${OPERATOR_ROADS.join(',')}`)
    .argParser(parseRoads)
    .default([...DEFAULT_ROADS], DEFAULT_ROADS.join(','));
}

/** The `--watch-namespaces` option. */
export function namespacesOption(description: string): Option {
  return new Option('--watch-namespaces <list>', description)
    .argParser(parseNamespaces)
    .default([], 'everywhere');
}

/** The `--filter-modules` option. */
export function filterModulesOption(): Option {
  return new Option(
    '--filter-modules <list>',
    'npm packages in the image that filters of any KafkaProxy may come from, separated by commas',
  )
    .argParser(parsePackages)
    .default([], 'those that a KafkaProxy allows itself');
}

/** The `--kafka-image` option. */
export function kafkaImageOption(): Option {
  return new Option(
    '--kafka-image <version=image>',
    'what nodes of this version of Kafka run; once for each version',
  )
    .argParser(parseVersionedImage)
    .default({}, 'apache/kafka:<version>');
}

/** The `--cluster-id` option. */
export function clusterIdOption(): Option {
  return new Option(
    '--cluster-id <id>',
    'what node pools call the operator’s own cluster (default: $STRIMZI_CENTRAL_CLUSTER_ID, then local)',
  ).argParser(parseClusterId);
}

/** The `--probe-resolver` option. */
export function probeResolverOption(): Option {
  return new Option(
    '--probe-resolver <address[:port]>',
    'the DNS server that clients outside use: probes of exposed brokers ask it (default: the pod’s own)',
  ).argParser(parseResolver);
}

/** The `--probe-networks` option. */
export function probeNetworksOption(): Option {
  return new Option(
    '--probe-networks <list>',
    'networks of loopback, link-local or metadata addresses at which brokers are probed all the same (default: none)',
  ).argParser(parseNetworks);
}

/** The `--probe-from` option. */
export function probeFromOption(): Option {
  return new Option(
    '--probe-from <list>',
    'joined clusters from which exposed brokers are looked at, too (default: none)',
  ).argParser(parseClusterIds);
}

/** The `--external-dns-metrics` option. */
export function externalDnsOption(): Option {
  return new Option(
    '--external-dns-metrics <url>',
    'where external-dns tells its metrics: its errors are then among those of the operator',
  ).argParser(parseHttpUrl);
}

/** Reads a list such as `proxy`; an unknown road is a usage error. */
function parseRoads(text: string): OperatorRoad[] {
  const roads = parseList(text);
  const unknown = roads.filter((word) => !OPERATOR_ROADS.includes(word as OperatorRoad));
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `unknown road ${unknown.join(', ')}; choose of ${OPERATOR_ROADS.join(', ')}.`,
    );
  return roads as OperatorRoad[];
}
