/** The state of the delegation machine, what it asks for and what it is told. */
import type { ObservedDns } from './observe.ts';
import { PLATFORMS } from './platform.ts';
import type { Asked, Part, Platform, WantedDelegation, Write } from './platform.ts';
import type { DelegationStatus } from './status.ts';
import type { Written } from './write.ts';
import { NEW_WRITE_RATE } from './write-rate.ts';
import type { WriteRate } from './write-rate.ts';

export interface MachineSettings {
  /** The zones to delegate; without any, the delegation is removed. */
  zones: readonly string[];
  /** `<namespace>/<name>` of our Service. */
  owner: string;
  /** Detected if undefined. */
  platform: Platform | undefined;
  /** The address of our server; that of our Service if undefined. */
  server: string | undefined;
  /** How long verification may take. */
  verifyMs: number;
}

/** The part of a write that is sent. */
export type Patch = Pick<Write, 'object' | 'patch'>;

/** What was read last, and what follows from it. */
export interface Situation extends ObservedDns {
  wanted: WantedDelegation;
  parts: readonly Part[];
  /** The part that comes next: the first that needs something; the first of all if none does. */
  part: Part;
}

/** Whom to ask, as far as known. */
export type DnsAddresses = Partial<Record<Asked, string | undefined>>;

/** An answer that is not the one wanted. */
export interface ProbeProblem {
  /** Who answers so. */
  dnsAddress: string;
  what: string;
}

/** A part of the delegation that is written and not yet verified. */
export interface Verification {
  platform: Platform;
  dnsAddresses: readonly string[];
  deadline: number;
  /** Successful rounds in a row. */
  good: number;
  /** Removes the delegation if it is not verified in time. */
  undo: Patch | undefined;
}

export interface MachineState {
  rate: WriteRate;
  /** The parts that have been verified since they were written. */
  verified: readonly Platform[];
  /** Whom to ask; as last resolved. */
  addresses: DnsAddresses;
  /** The object after a failed delegation was undone: when it changes, the delegation is tried again at once. */
  failedOn: string | undefined;
  /** All addresses of our server so far, which may be written somewhere. */
  servers: readonly string[];
  situation: Situation | undefined;
  verification: Verification | undefined;
}

interface Ping {
  do: 'ping';
  dnsAddresses: readonly string[];
  write: Write;
}

interface WriteStep {
  do: 'write';
  patch: Patch;
  purpose:
    | { of: 'delegation'; dnsAddresses: readonly string[]; undo: object | undefined }
    | { of: 'undo'; problem: string }
    | { of: 'removal' };
}

/** What the runner has to do next; the result comes back as an event. */
export type Step =
  /** Read all objects. */
  | { do: 'observe' }
  /** Remove our zones from platforms that are not in use. */
  | { do: 'clean'; patches: readonly Patch[] }
  /** Find out whom to ask. */
  | { do: 'resolve'; hasNodeCache: boolean }
  /** Ask whether they answer at all. */
  | Ping
  | WriteStep
  /** Ask each of them for all zones. */
  | { do: 'probe'; dnsAddresses: readonly string[] }
  /** Start again after this time, or earlier when an object changes. */
  | { do: 'wait'; ms: number };

export type DelegationEvent =
  /** It is time, or an object may have changed since it was observed. */
  | { type: 'woken'; isChanged: boolean }
  | { type: 'observed'; observed: ObservedDns }
  | { type: 'cleaned' }
  | { type: 'resolved'; addresses: DnsAddresses }
  /** Who does not answer, if anybody does not. */
  | { type: 'pinged'; step: Ping; silent: string | undefined }
  | { type: 'written'; step: WriteStep; written: Written }
  | { type: 'probed'; problem: ProbeProblem | undefined };

/** The next state and step. The runner reports the status before it does the step. */
export interface Transition {
  state: MachineState;
  step: Step;
  status?: DelegationStatus;
}

/** The first state of a leader: what an earlier one has verified counts as verified. */
export function initialState(
  last: DelegationStatus | undefined,
  { zones }: Pick<MachineSettings, 'zones'>,
): MachineState {
  const isSame = last?.zones.join() === zones.join();
  const worked = last?.state === 'delegated' || last?.state === 'failing';
  return {
    rate: NEW_WRITE_RATE,
    verified: !isSame ? [] : worked ? PLATFORMS : (last?.verified ?? []),
    addresses: {},
    failedOn: undefined,
    servers: last?.server === undefined ? [] : [last.server],
    situation: undefined,
    verification: undefined,
  };
}
