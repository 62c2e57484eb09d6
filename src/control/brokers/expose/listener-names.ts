/** The listeners of a Kafka that have the names that they ask for, or others that they had before. Pure. */
import type { Fault } from '../faults.ts';
import type { Charter, NameGrant } from '../model/charter.ts';
import type { Listener } from '../model/cluster.ts';
import { judgeOfNames } from './grants.ts';
import type { NameFault, NameSight } from './grants.ts';
import { exposedHost } from './names.ts';

export interface SeenNames extends NameSight {
  kafka: { namespace: string; name: string };
  /** What was written down, by listener. */
  recorded: Charter['names'];
  /** Listeners that are to come: what they were granted stays theirs. */
  waiting: readonly string[];
  /** How many brokers there are. */
  brokers: number;
  now: number;
}

export interface GrantedNames {
  /** All that can be had now. */
  listeners: Listener[];
  /** All that are to be written down. */
  names: Charter['names'];
  faults: Fault[];
}

export function grantNames(listeners: readonly Listener[], seen: SeenNames): GrantedNames {
  const { namespace, name: kafka } = seen.kafka;
  const judge = judgeOfNames({ kind: 'Kafka', namespace, name: kafka }, seen);
  // Listeners may be called like something that every object has.
  const recorded = new Map(Object.entries(seen.recorded));
  const names = new Map([...recorded].filter(([name]) => seen.waiting.includes(name)));
  const faults: Fault[] = [];
  const served = listeners.flatMap((listener): Listener[] => {
    const { name, exposure } = listener;
    if (exposure?.hostPattern === undefined) return [listener];
    const wanted = { pattern: exposure.hostPattern, count: seen.brokers + 1 };
    const { grant, fault } = judge(wanted, recorded.get(name));
    if (fault) faults.push(faultOf(name, fault, grant));
    if (!grant) return [];
    names.set(name, grant);
    const isWithdrawn = grant.since === undefined;
    return [{ ...listener, exposure: { ...exposure, hostPattern: grant.pattern, isWithdrawn } }];
  });
  return { listeners: served, names: Object.fromEntries(names), faults };
}

function faultOf(listener: string, { reason, message }: NameFault, grant: NameGrant | undefined): Fault {
  const meanwhile = !grant
    ? 'the listener is left out until it has a name'
    : grant.since === undefined
      ? 'the listener stays, and its names are not published'
      : `the listener goes on as ${exposedHost(grant.pattern, 'bootstrap')}`;
  return {
    reason,
    path: ['spec', 'kafka', 'listeners'],
    message: `listener "${listener}": ${message}; ${meanwhile}`,
  };
}
