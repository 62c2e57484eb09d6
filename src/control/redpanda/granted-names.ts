/**
 * Whether a Redpanda cluster may have the names that its owner wants for its brokers: policies decide, and who had a name first. What it had
 * stays written on the StatefulSet, so that brokers go on by it where another one cannot be had. Pure.
 */
import { z } from 'zod';
import type { AnyObject } from '../../kube/object.ts';
import type { HostIndex } from '../shared/host-index.ts';
import { NODE_ID } from '../shared/host-patterns.ts';
import { createHostPolicy } from '../shared/host-policy.ts';
import type { ClaimedHosts, PolicySight } from '../shared/host-policy.ts';
import type { Fault } from './faults.ts';
import { ID_TOKEN } from './host-names.ts';
import type { HostNames } from './model.ts';
import { NAMES_ANNOTATION } from './names.ts';

export interface NameSight extends PolicySight {
  /** What others publish; asked for only where it is wanted. */
  published: () => HostIndex;
}

export interface SeenNames extends NameSight {
  namespace: string;
  replicas: number;
  /** What it had before. */
  recorded: HostNames | undefined;
  /** Whether it has records now. */
  isPublished: boolean;
}

export interface GrantedNames {
  /** What clients are told; undefined if there is nothing to tell them, and the listener is left out. */
  names: HostNames | undefined;
  /** Whether the names lead nowhere for now. */
  isWithdrawn: boolean;
  fault: Fault | undefined;
}

const recordedSchema = z.object({ broker: z.string().max(300), bootstrap: z.string().max(253) });

/** What was written down; undefined if nothing that can be read was. */
export function recordedNames(statefulSet: AnyObject | undefined): HostNames | undefined {
  const text = statefulSet?.metadata.annotations?.[NAMES_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return recordedSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export const hostsOf = ({ broker, bootstrap }: HostNames, replicas: number): ClaimedHosts => ({
  bootstrap,
  brokers: broker.replaceAll(ID_TOKEN, NODE_ID),
  count: replicas + 1,
});

const isSame = (one: HostNames, other: HostNames | undefined) =>
  one.broker === other?.broker && one.bootstrap === other.bootstrap;

type NameFault = { reason: 'HostNameTaken' | 'HostNameNotAllowed' | 'HostNameLimitReached'; message: string };

export function grantNames(wanted: HostNames, seen: SeenNames): GrantedNames {
  const { recorded } = seen;
  const policy = createHostPolicy(seen.namespace, seen);
  const faultOf = (names: HostNames): NameFault | undefined => {
    const isHeld = isSame(names, recorded);
    const hosts = hostsOf(names, seen.replicas);
    // Names that lead nowhere may have become somebody else's.
    return (
      policy.faultOf(hosts, isHeld) ?? (isHeld && seen.isPublished ? undefined : takenFault(hosts, seen))
    );
  };
  const fault = faultOf(wanted);
  if (!fault) return { names: wanted, isWithdrawn: false, fault: undefined };
  const isWithdrawn = recorded === undefined || faultOf(recorded) !== undefined;
  return { names: recorded, isWithdrawn, fault: described(fault, recorded, isWithdrawn) };
}

function takenFault({ bootstrap, brokers }: ClaimedHosts, { published }: NameSight): NameFault | undefined {
  const index = published();
  const found = index.find(bootstrap) ?? index.find(brokers);
  if (!found) return undefined;
  const host = found.host.replace(NODE_ID, '<id>');
  const message = `the host name ${host} belongs to ${found.holder}, which had it first; set hostPattern: $(id).$(cluster).$(subdomain), or choose another subdomain`;
  return { reason: 'HostNameTaken', message };
}

function described(
  { reason, message }: NameFault,
  names: HostNames | undefined,
  isWithdrawn: boolean,
): Fault {
  const meanwhile = !names
    ? 'the external listener is left out until it has a name'
    : isWithdrawn
      ? 'the external listener stays, and its names are not published'
      : `the external listener goes on as ${names.bootstrap}`;
  return { reason, path: ['spec', 'configuration', 'kafkaApi'], message: `${message}; ${meanwhile}` };
}
