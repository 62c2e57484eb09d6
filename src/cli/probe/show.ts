/** A probe as people read it, or programs. */
import { isIPv6 } from 'node:net';
import { stringify } from 'yaml';
import type { Finding } from '../../probe/findings.ts';
import type { ProbedAddress, ProbedCluster, ProbedEndpoint, Step } from '../../probe/probed.ts';
import { render } from '../output.ts';
import type { OutputFormat } from '../output.ts';

interface Row {
  endpoint: ProbedEndpoint;
  /** None if the name has none. */
  at: ProbedAddress | undefined;
}

const msOf = (ms: number | undefined) => (ms === undefined ? '' : `${ms.toFixed(1)} ms`);

const stepCell =
  (step: Step) =>
  ({ at }: Row) => {
    if (at?.failed?.step === step) return 'FAILED';
    return msOf(at?.passed.find((one) => one.step === step)?.ms);
  };

const COLUMNS = {
  node: ({ endpoint }: Row) => String(endpoint.nodeId ?? '-'),
  'told to clients': ({ endpoint: { host, port } }: Row) =>
    isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
  address: ({ at }: Row) => at?.address ?? 'none',
  resolve: ({ endpoint }: Row) => (endpoint.unresolved === undefined ? msOf(endpoint.resolveMs) : 'FAILED'),
  connect: stepCell('connect'),
  tls: stepCell('tls'),
  versions: stepCell('versions'),
  login: stepCell('login'),
  metadata: stepCell('metadata'),
  identity: stepCell('identity'),
};

export function show(probed: ProbedCluster, findings: readonly Finding[], format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify({ ...probed, findings }, null, 2)}\n`;
  if (format === 'yaml') return stringify({ ...probed, findings });
  const rows = [...probed.bootstrap, ...probed.brokers].flatMap((endpoint): Row[] =>
    endpoint.addresses.length === 0
      ? [{ endpoint, at: undefined }]
      : endpoint.addresses.map((at) => ({ endpoint, at })),
  );
  const used = Object.entries(COLUMNS).filter(([, cell]) => rows.some((row) => cell(row) !== ''));
  const table = render(rows, Object.fromEntries(used), 'table');
  const words = findings.map(({ where, problem, hint }) => `\n${where}: ${problem}\n  ${hint}\n`);
  const { clusterId, brokers } = probed;
  const head =
    clusterId === null
      ? ''
      : `cluster ${clusterId}, ${brokers.length} ${brokers.length === 1 ? 'broker' : 'brokers'}\n`;
  return `${head}${table}${words.join('')}`;
}
