/** Why nothing is decided about a Kafka, before anything of it is looked at: it cannot be read, or belongs to somebody else. Pure. */
import { LOCAL } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { Fault } from './faults.ts';
import type { Observed } from './observe.ts';

/** Where other clusters are joined by exported Services, and this one cannot export any. */
export const NO_EXPORTS: Fault = {
  reason: 'NotSupported',
  path: [],
  message:
    'this cluster does not have the kind ServiceExport, by which nodes elsewhere find those here; install the CRDs of the Multi-Cluster Services API (isthmus install --crds mcs has them)',
};

export const unreadableFaults = ({ unreadable }: Observed): Fault[] =>
  unreadable.map(({ object: { kind, metadata }, problem }) => ({
    reason: 'Invalid',
    path: [],
    message: `${kind} "${metadata.name}": ${problem}`,
  }));

/** Names that are listed in one message. */
const MAX_NAMES = 10;
export const listed = (names: readonly string[]) =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
    : names.join(', ');

/** What belongs to somebody else: nothing is written beside it. */
export function foreignFaults({ kafka, anchor, foreign }: Observed, { taken }: Learned<never>): Fault[] {
  const version = anchor ? undefined : kafka?.status?.['operatorLastSuccessfulVersion'];
  const who = [
    ...(typeof version === 'string' ? [`its status is that of a Strimzi operator (${version})`] : []),
    ...(foreign.length > 0 ? [`another operator has made ${listed(foreign)}`] : []),
  ];
  const advice = 'let that operator go on, or make a Kafka of another name';
  if (who.length > 0)
    return [{ reason: 'RunByAnother', path: [], message: `${who.join(', and ')}; ${advice}` }];
  if (taken.size === 0) return [];
  const message = `somebody else has made ${listed([...taken])}; remove them, or choose another name`;
  return [{ reason: 'NameTaken', path: ['metadata', 'name'], message }];
}

/** Two installations would each restart nodes, make keys and empty brokers; the one that wrote the anchor goes on. */
export function holderFaults({ name, namespace, anchor }: Observed, { holder }: { holder: string }): Fault[] {
  const other = anchor?.spec.holder;
  if (other === undefined || other === holder || other === LOCAL) return [];
  const patch = `kubectl patch kafkaanchor ${name} -n ${namespace} --type merge -p '{"spec":{"holder":"${holder}"}}'`;
  const message = `the operator in namespace "${other}" runs this Kafka; to have it run from "${holder}", stop that one and then: ${patch}`;
  return [{ reason: 'RunByAnother', path: [], message }];
}
