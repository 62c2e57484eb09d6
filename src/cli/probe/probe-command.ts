import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Endpoint, ProbeOptions } from '../../probe/endpoint.ts';
import type { ProbedCluster } from '../../probe/probed.ts';
import { parseCount, parseImage, parseNamespace, parseResolver } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { fileOf, parseBootstrap, saslOf, tlsOf, withKafkaFlags } from '../kafka-flags.ts';
import type { KafkaFlags } from '../kafka-flags.ts';
import { outputOption } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { show } from './show.ts';

export interface ProbeFlags extends KafkaFlags {
  from?: string;
  fromNamespace: string;
  kubeconfig?: string;
  image?: string;
  reportFile?: string;
  resolver?: string;
  timeout: number;
  output: OutputFormat;
}

/** `isthmus probe HOST:PORT`: whether a Kafka client gets from here to every broker, and if not, where it ends. */
export function probeCommand(terminal: Terminal): Command {
  const command = new Command('probe')
    .description(
      'take the way of a Kafka client from here to every broker, and say how far it comes; exit code 1 if not all the way',
    )
    .argument('<bootstrap>', 'host:port, several separated by commas', parseBootstrap)
    .option('--resolver <address[:port]>', 'ask this DNS server instead of the system', parseResolver);
  return withKafkaFlags(command)
    .option('--timeout <seconds>', 'for the way to one address', parseCount, 10)
    .option('--from <context>', 'look from a pod in the cluster of this kubeconfig context instead of here')
    .option('--from-namespace <name>', 'where that pod runs', parseNamespace, 'isthmus-system')
    .option('--image <reference>', 'what it runs (default: that of Isthmus’ operator there)', parseImage)
    .option('--kubeconfig <file>', 'has that context (default: $KUBECONFIG, then ~/.kube/config)')
    .addOption(new Option('--report-file <file>', 'also write the outcome there, packed').hideHelp())
    .addOption(outputOption())
    .action(async (bootstrap: Endpoint[], flags: ProbeFlags) => {
      const { findingsOf } = await import('../../probe/findings.ts');
      const probed = await (flags.from === undefined
        ? probeHere(bootstrap, flags)
        : probeThere(bootstrap, flags));
      const findings = findingsOf(probed);
      if (findings.length > 0) terminal.exitCode = EXIT.problems;
      terminal.out(show(probed, findings, flags.output));
    });
}

async function probeHere(bootstrap: readonly Endpoint[], flags: ProbeFlags): Promise<ProbedCluster> {
  const options = await optionsOf(flags);
  const { probeCluster } = await import('../../probe/cluster.ts');
  const probed = await probeCluster(bootstrap, options);
  if (flags.reportFile !== undefined) {
    const { packReport } = await import('./report.ts');
    writeFileSync(flags.reportFile, packReport(probed));
  }
  return probed;
}

async function probeThere(bootstrap: readonly Endpoint[], flags: ProbeFlags): Promise<ProbedCluster> {
  // What is wrong with files and flags is said before anything is made there.
  tlsOf(flags);
  const sasl = saslOf(flags);
  const { probeFrom } = await import('./from.ts');
  const files = {
    ...(flags.ca !== undefined && { 'ca.crt': fileOf('--ca', flags.ca) }),
    ...(flags.cert !== undefined && { 'tls.crt': fileOf('--cert', flags.cert) }),
    ...(flags.key !== undefined && { 'tls.key': fileOf('--key', flags.key) }),
    ...(sasl && { password: sasl.password }),
  };
  return probeFrom({ bootstrap, flags, files });
}

async function optionsOf(flags: ProbeFlags): Promise<ProbeOptions> {
  const { resolveBy, resolveBySystem } = await import('../../probe/resolve.ts');
  const timeoutMs = flags.timeout * 1000;
  return {
    resolve: flags.resolver === undefined ? resolveBySystem : resolveBy(flags.resolver, timeoutMs),
    tls: tlsOf(flags),
    sasl: saslOf(flags),
    timeoutMs,
  };
}
