/** What a probe from the operator says about each name that clients are told. Pure. */
import { isIPv6 } from 'node:net';
import { canonicalName } from '../../../pki/alternative-names.ts';
import { isReachable } from '../../../probe/probed.ts';
import type { ProbedEndpoint, Step } from '../../../probe/probed.ts';
import type { ToldEndpoint, ToldListener } from '../expose/told.ts';

/** How one endpoint of a listener was found, as it is kept in a status. */
export interface Verdict {
  /** `<listener>-<node id>`, or `<listener>-bootstrap`. */
  name: string;
  /** What clients are told. */
  address: string;
  expected: readonly string[];
  answered: readonly string[];
  /** Whether DNS says what it should. */
  isPropagated: boolean;
  isReached: boolean;
  /** Where a client ends; undefined if it gets through. */
  failed: Step | 'resolve' | undefined;
  problem: string | undefined;
}

/** As long as the status of an anchor may have them. */
const MAX_PROBLEM = 1024;
const MAX_ADDRESSES = 16;

/** By node id: all places that brokers tell their clients to go to. */
export type Announced = ReadonlyMap<number, ReadonlySet<string>>;

/** In one spelling, whoever writes it. */
export function placeOf(host: string, port: number): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const spelled = canonicalName(bare) ?? bare;
  return isIPv6(spelled) ? `[${spelled}]:${port}` : `${spelled}:${port}`;
}

export function verdictOf(
  { name }: ToldListener,
  told: ToldEndpoint,
  probed: ProbedEndpoint,
  announced: Announced = new Map(),
): Verdict {
  const answered = [...new Set(probed.addresses.map(({ address }) => address))].toSorted();
  const expected = [...new Set(told.expected)].toSorted();
  const isResolved = probed.unresolved === undefined && answered.length > 0;
  const isPropagated = isResolved && (expected.length === 0 || expected.join() === answered.join());
  const ended = probed.addresses.find(({ failed }) => failed !== undefined);
  const others = elsewhere(told, announced);
  const failed =
    ended?.failed?.step ?? (!isPropagated ? 'resolve' : others.length > 0 ? 'metadata' : undefined);
  const problem = !isResolved
    ? (probed.unresolved ?? 'the name has no address')
    : ended
      ? `${ended.failed!.problem}${ended.address === told.host ? '' : ` (at ${ended.address})`}`
      : !isPropagated
        ? outdated(answered, expected)
        : others.length > 0
          ? `brokers send clients to ${others.join(', ')} instead`
          : undefined;
  return {
    name: `${name}-${told.node ?? 'bootstrap'}`,
    address: placeOf(told.host, told.port),
    expected: expected.slice(0, MAX_ADDRESSES),
    answered: answered.slice(0, MAX_ADDRESSES),
    isPropagated,
    isReached: isReachable(probed) && others.length === 0,
    failed,
    problem: problem?.slice(0, MAX_PROBLEM),
  };
}

/** Where clients are sent to, if it is not where they should be. */
function elsewhere({ node, host, port }: ToldEndpoint, announced: Announced): string[] {
  const places = node === undefined ? [] : [...(announced.get(node) ?? [])];
  return places.filter((place) => place !== placeOf(host, port)).toSorted();
}

export const outdated = (answered: readonly string[], expected: readonly string[]) =>
  `it leads to ${answered.join(', ')} and should lead to ${expected.join(', ')}`;
