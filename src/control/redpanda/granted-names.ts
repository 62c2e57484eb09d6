/**
 * Whether a Redpanda cluster may have the names that its owner wants for its brokers, by the rules that Kafkas have: policies decide, and who
 * was granted a name first. Brokers go on by what they had where another one cannot be had. Pure.
 */
import { bootstrapOf, judgeOfNames } from '../brokers/expose/grants.ts';
import type { NameFault, NameSight } from '../brokers/expose/grants.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import type { Fault } from './faults.ts';
import type { HostNames } from './model.ts';

export interface SeenNames extends NameSight {
  cluster: { namespace: string; name: string };
  replicas: number;
  /** What it had before. */
  recorded: NameGrant | undefined;
  now: number;
}

export interface GrantedNames {
  /** What is to be written down; undefined if there is nothing to tell clients, and the listener is left out. */
  grant: NameGrant | undefined;
  fault: Fault | undefined;
}

export function grantNames({ broker, bootstrap }: HostNames, seen: SeenNames): GrantedNames {
  const { namespace, name } = seen.cluster;
  const judge = judgeOfNames({ kind: 'Redpanda cluster', namespace, name }, seen);
  const wanted = { pattern: broker, bootstrap, count: seen.replicas + 1 };
  const { grant, fault } = judge(wanted, seen.recorded);
  return { grant, fault: fault && described(fault, grant) };
}

export const hostNamesOf = (grant: NameGrant): HostNames => ({
  broker: grant.pattern,
  bootstrap: bootstrapOf(grant),
});

function described({ reason, message }: NameFault, grant: NameGrant | undefined): Fault {
  const meanwhile = !grant
    ? 'the external listener is left out until it has a name'
    : grant.since === undefined
      ? 'the external listener stays, and its names are not published'
      : `the external listener goes on as ${bootstrapOf(grant)}`;
  return { reason, path: ['spec', 'configuration', 'kafkaApi'], message: `${message}; ${meanwhile}` };
}
