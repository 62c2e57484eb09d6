/** The conditions that probes of exposed brokers amount to, from this cluster and from others. Pure. */
import type { PlannedCondition } from '../../../kube/write/conditions.ts';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { ToldListener } from '../expose/told.ts';
import { outdated } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** What DNSEndpoints say of who publishes the names: external-dns writes on them, our own DNS server answers and writes nothing. */
export type Publisher = 'none' | 'behind' | 'up to date';

const ADVICE: Record<Publisher, string> = {
  none: 'this cluster has no DNSEndpoints, so nobody is told: install their CRD (`isthmus install --crds external-dns`), and external-dns or `isthmus dns`',
  behind:
    'external-dns has not taken up the DNSEndpoint: see whether it runs, with --source=crd, and whether its --namespace, --label-filter and --annotation-filter leave it out; `isthmus check expose` compares them. If the DNS server of Isthmus publishes the names, see whether it has their zone and reads this cluster (`isthmus dns query` says what it would answer), and whether the zone leads to it',
  'up to date':
    'external-dns has taken up the DNSEndpoint: see its log, whether --domain-filter has the zone and --exclude-domains has not, whether --policy lets it change records and --txt-owner-id is the one that made them, and whether resolvers still have older records; `isthmus check expose` compares the flags',
};

/** All that the conditions are made of. */
export interface SeenOutside {
  listeners: readonly ToldListener[];
  /** From this cluster. */
  verdicts: readonly Verdict[];
  publisher: Publisher;
  /** From others. */
  vantages?: readonly SeenFrom[] | undefined;
  /** Whether brokers get no NetworkPolicies. */
  withoutPolicies?: boolean | undefined;
}

/** DNS only where there are names to be published; none of them for a cluster that is not exposed. */
export function outsideConditions(seen: SeenOutside): PlannedCondition[] {
  const { listeners, verdicts, publisher, vantages = [] } = seen;
  if (verdicts.length === 0) return [];
  const elsewhere = vantages.flatMap((one) => fromElsewhere(one, verdicts));
  const unpublished = verdicts
    .filter(({ isPropagated }) => !isPropagated)
    .map(({ address, answered, expected, problem }) =>
      answered.length > 0 ? `${address}: ${outdated(answered, expected)}` : `${address}: ${problem}`,
    );
  const unreached = verdicts
    .filter(({ isReached }) => !isReached)
    .map(({ name, address, failed, problem }) => `${name} (${address}): ${failed}: ${problem}`);
  const places = placesText(vantages);
  return [
    ...(listeners.some(({ isNamed }) => isNamed)
      ? [
          condition(
            'DNSPropagated',
            'NamesNotPublished',
            [...unpublished, ...elsewhere.flatMap((one) => one.unpublished ?? [])],
            [ADVICE[publisher]],
          ),
        ]
      : []),
    condition(
      'Reachable',
      'BrokersUnreachable',
      [...unreached, ...elsewhere.flatMap((one) => one.unreached ?? [])],
      blindText(vantages),
      places,
    ),
    ...sourcesCondition(seen),
  ];
}

/** The types of conditions that a Kafka takes over from its anchor. */
export const OUTSIDE_CONDITIONS: readonly string[] = ['DNSPropagated', 'Reachable', 'SourcesEnforced'];

/** What is wrong as seen from another cluster, with what clients are told now. */
function fromElsewhere({ name: from, endpoints, unreached }: SeenFrom, verdicts: readonly Verdict[]) {
  const told = new Map(verdicts.map((one) => [one.name, one]));
  const known = endpoints.flatMap((one) => {
    const verdict = told.get(one.name);
    if (!verdict) return [];
    const { address, expected } = verdict;
    const where = `from ${from}: ${one.name} (${address})`;
    const isMisled = one.answered !== undefined && one.answered.length > 0;
    const problem = isMisled ? outdated(one.answered!, expected) : one.problem;
    return [
      {
        ...((isMisled || one.failed === 'resolve') && { unpublished: `${where}: ${problem}` }),
        // A name that leads elsewhere may lead to a broker all the same.
        ...(!(isMisled && one.failed === 'resolve') && {
          unreached: `${where}: ${one.failed}: ${one.problem}`,
        }),
      },
    ];
  });
  const more = unreached - endpoints.length;
  return more > 0 ? [...known, { unreached: `from ${from}: ${more} more` }] : known;
}

const isBlind = ({ problem }: SeenFrom) => problem !== undefined;

function placesText(vantages: readonly SeenFrom[]): string {
  const seeing = vantages.filter((one) => !isBlind(one)).map(({ name }) => name);
  return vantages.length === 0 ? '' : `seen from ${['this cluster', ...seeing].join(', ')}`;
}

const blindText = (vantages: readonly SeenFrom[]) =>
  vantages.filter(isBlind).map(({ name, problem }) => `nobody could look from ${name}: ${problem}`);

/**
 * Whether those are kept out that `allowedSources` does not name. What enforces it cannot be asked, so it is tried: from a joined cluster
 * whose pod and node are not among them, while somebody else gets through. Of a listener that nobody tried so nothing is known.
 */
function sourcesCondition({
  listeners,
  vantages = [],
  withoutPolicies = false,
}: SeenOutside): PlannedCondition[] {
  const limited = listeners.filter(({ sources }) => sources !== undefined);
  if (limited.length === 0) return [];
  const type = 'SourcesEnforced';
  const unguarded = limited.filter(({ sources }) => withoutPolicies && sources!.by === 'hostport');
  const tries = vantages.flatMap(({ name: place, sources = [] }) =>
    sources.map((one) => ({ place, ...one })),
  );
  const passed = tries.filter(({ name, connected }) => connected && limited.some((one) => one.name === name));
  const problems = [
    ...unguarded.map(
      ({ name }) =>
        `listener "${name}": NetworkPolicies are switched off (STRIMZI_NETWORK_POLICY_GENERATION)`,
    ),
    ...passed.map(
      ({ place, name }) =>
        `listener "${name}": from ${place} a connection came about, though neither the pod there nor its node is in allowedSources: the network does not enforce it, or rewrites addresses on the way to one that is allowed`,
    ),
  ];
  if (problems.length > 0)
    return [{ type, status: 'False', reason: 'ForbiddenSourceConnected', message: listed(problems) }];
  const unknown = limited.flatMap(({ name: listener }) => unknownOf(listener, tries));
  if (unknown.length > 0)
    return [{ type, status: 'Unknown', reason: 'SourcesUntested', message: listed(unknown) }];
  const places = new Set(tries.filter(({ proven }) => proven).map(({ place }) => place));
  return [{ type, status: 'True', reason: type, message: `no connection came about from ${[...places].join(', ')}` }]; // prettier-ignore
}

/** Why nobody can say that others are kept out of a listener. */
function unknownOf(
  listener: string,
  tries: readonly { place: string; name: string; proven?: boolean }[],
): string[] {
  const its = tries.filter(({ name }) => name === listener);
  if (its.some(({ proven }) => proven)) return [];
  const why =
    its.length === 0
      ? 'nobody has tried from a place that is not in allowedSources; let the operator look from a joined cluster that is not (--probe-from)'
      : `no connection came about from ${its.map(({ place }) => place).join(', ')}, but nobody who may connect is known to have got through at the time, so brokers may have been down, or out of reach for all`;
  return [`listener "${listener}": ${why}`];
}

/** More are counted. */
const MAX_LISTED = 3;

function listed(problems: readonly string[], notes: readonly string[] = []): string {
  const more = problems.length > MAX_LISTED ? [`and ${problems.length - MAX_LISTED} more`] : [];
  return [...problems.slice(0, MAX_LISTED), ...more, ...notes].join('; ');
}

function condition(
  type: 'DNSPropagated' | 'Reachable',
  reason: 'NamesNotPublished' | 'BrokersUnreachable',
  problems: readonly string[],
  notes: readonly string[] = [],
  places = '',
): PlannedCondition {
  if (problems.length > 0) return { type, status: 'False', reason, message: listed(problems, notes) };
  // Advice is for who has a problem; from where was looked is worth knowing in any case.
  const message = type === 'Reachable' ? [places, ...notes].filter(Boolean).join('; ') : '';
  return { type, status: 'True', reason: type, message };
}
