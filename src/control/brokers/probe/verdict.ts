/** What a probe from the operator says about each name that clients are told, and the conditions that it amounts to. Pure. */
import { isIPv6 } from 'node:net';
import { canonicalName } from '../../../pki/alternative-names.ts';
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
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

const outdated = (answered: readonly string[], expected: readonly string[]) =>
  `it leads to ${answered.join(', ')} and should lead to ${expected.join(', ')}`;

/** What is known of who publishes the names. */
export type Publisher = 'none' | 'behind' | 'up to date';

const ADVICE: Record<Publisher, string> = {
  none: 'this cluster has no DNSEndpoints, so nobody is told: install external-dns and its CRD',
  behind:
    'external-dns has not taken up the DNSEndpoint: see whether it runs, with --source=crd, and whether its --namespace, --label-filter and --annotation-filter leave it out; `isthmus check expose` compares them',
  'up to date':
    'external-dns has taken up the DNSEndpoint: see its log, whether --domain-filter has the zone and --exclude-domains has not, whether --policy lets it change records and --txt-owner-id is the one that made them, and whether resolvers still have older records; `isthmus check expose` compares the flags',
};

/** DNS only where there are names to be published; none of them for a cluster that is not exposed. */
export function outsideConditions(
  listeners: readonly ToldListener[],
  verdicts: readonly Verdict[],
  publisher: Publisher,
): PlannedCondition[] {
  if (verdicts.length === 0) return [];
  const unpublished = verdicts
    .filter(({ isPropagated }) => !isPropagated)
    .map(({ address, answered, expected, problem }) =>
      answered.length > 0 ? `${address}: ${outdated(answered, expected)}` : `${address}: ${problem}`,
    );
  const unreached = verdicts
    .filter(({ isReached }) => !isReached)
    .map(({ name, address, failed, problem }) => `${name} (${address}): ${failed}: ${problem}`);
  return [
    ...(listeners.some(({ isNamed }) => isNamed)
      ? [condition('DNSPropagated', 'NamesNotPublished', unpublished, ADVICE[publisher])]
      : []),
    condition('Reachable', 'BrokersUnreachable', unreached),
  ];
}

/** The types of conditions that a Kafka takes over from its anchor. */
export const OUTSIDE_CONDITIONS: readonly string[] = ['DNSPropagated', 'Reachable'];

/** More are counted. */
const MAX_LISTED = 3;

function condition(
  type: 'DNSPropagated' | 'Reachable',
  reason: 'NamesNotPublished' | 'BrokersUnreachable',
  problems: readonly string[],
  advice?: string,
): PlannedCondition {
  if (problems.length === 0) return { type, status: 'True', reason: type, message: '' };
  const more = problems.length > MAX_LISTED ? [`and ${problems.length - MAX_LISTED} more`] : [];
  const message = [...problems.slice(0, MAX_LISTED), ...more, ...(advice ? [advice] : [])].join('; ');
  return { type, status: 'False', reason, message };
}
