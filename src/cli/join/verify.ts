/** Whether a cluster that was joined can be used: asked with its own account, as the operator and the DNS server will. */
import { RENEWAL_RIGHT, needsOf } from '../../control/join/needs.ts';
import type { Right } from '../../control/kernel/rights.ts';
import { excessRights, missingRights } from '../../control/targets/rights-check.ts';
import type { GrantedRule } from '../../control/targets/rights-check.ts';
import { askSelf, rulesIn } from '../../control/targets/health.ts';
import type { ReachMode } from '../../control/discover/members/nodes.ts';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { Client } from '../../kube/http/client.ts';
import type { Category } from '../check/checks.ts';
import type { CheckResult } from '../check/facts.ts';
import { fail, fine, verdict, warn } from '../check/results.ts';
import { settle } from '../kube/read.ts';
import type { Read } from '../kube/read.ts';

export interface JoinedFacts {
  cluster: string;
  server: string;
  isVerified: boolean;
  version: Read<string>;
  /** How far its clock is from ours, at least; undefined if it does not say. */
  clockOffMs: number | undefined;
  /** What the account may do, by namespace. */
  rules: Read<ReadonlyMap<string, readonly GrantedRule[]>>;
  needs: ReadonlyMap<string, readonly Right[]>;
  /** Kinds that are needed, and whether the cluster has them. */
  kinds: ReadonlyMap<string, boolean>;
  /** Networks of pods here and there with addresses in common. */
  overlaps: readonly string[];
  /** What the operator says of the cluster; undefined where none is there to say anything. */
  operator: { reachable: boolean; problem?: string | undefined } | 'silent' | undefined;
}

const TIMEOUT_MS = 15_000;
const MAX_CLOCK_MS = 60_000;

/** Where an account of some namespaces should have no more rights than everywhere. */
const ELSEWHERE = 'default';

/** By namespace: what the account needs. */
export function neededRights({
  roads,
  reach,
  kafkaNamespaces,
  home,
  isRenewed,
}: {
  roads: readonly JoinRoad[];
  reach: ReachMode;
  kafkaNamespaces: readonly string[];
  home: string;
  isRenewed: boolean;
}): Map<string, readonly Right[]> {
  const { home: atHome, namespaced, everywhere } = needsOf(roads, reach);
  const places = new Set([...(namespaced.length > 0 ? kafkaNamespaces : []), home, ELSEWHERE]);
  return new Map(
    [...places].map((place) => [
      place,
      [
        ...everywhere,
        ...(kafkaNamespaces.includes(place) ? namespaced : []),
        ...(place === home ? atHome : []),
        ...(isRenewed && place === home ? [RENEWAL_RIGHT] : []),
      ],
    ]),
  );
}

/** Asks the cluster, with the account that was made for us. */
export async function askJoined(
  client: Client,
  needs: ReadonlyMap<string, readonly Right[]>,
): Promise<Pick<JoinedFacts, 'version' | 'clockOffMs' | 'rules'>> {
  const options = { timeoutMs: TIMEOUT_MS };
  const version = await settle(
    client
      .read('/version', options)
      .then((answer) => String((answer as { gitVersion?: unknown }).gitVersion)),
  );
  if ('problem' in version) return { version, clockOffMs: undefined, rules: version };
  const before = Date.now();
  const self = await settle(askSelf(client, options));
  const after = Date.now();
  const time = 'value' in self ? self.value.time : undefined;
  const rules = await settle(
    Promise.all(
      [...needs.keys()].map(async (place) => [place, await rulesIn(client, place, options)] as const),
    ),
  );
  return {
    version,
    clockOffMs: time === undefined ? undefined : Math.max(before - time - 1000, time - after, 0),
    rules: 'value' in rules ? { value: new Map(rules.value) } : rules,
  };
}

/** Whether a rule names the token of the account alone, as it does for the right to renew it. */
const wholeOf = (rules: readonly GrantedRule[]): GrantedRule[] =>
  rules.map((rule) =>
    rule.resources?.includes(RENEWAL_RIGHT.resource) ? { ...rule, resourceNames: [] } : rule,
  );

/** What lacks, each with its namespace. */
export function missingOf({ rules, needs }: Pick<JoinedFacts, 'rules' | 'needs'>): string[] {
  if ('problem' in rules) return [];
  return [...needs].flatMap(([place, rights]) =>
    missingRights(wholeOf(rules.value.get(place) ?? []), rights).map((one) => `${one} in ${place}`),
  );
}

/** What is too much, in the same way. */
export function excessOf({ rules, needs }: Pick<JoinedFacts, 'rules' | 'needs'>): string[] {
  if ('problem' in rules) return [];
  return [...needs].flatMap(([place, rights]) =>
    excessRights(rules.value.get(place) ?? [], rights).map((one) => `${one} in ${place}`),
  );
}

/** What all that comes to. */
export function judgeJoined(facts: JoinedFacts): Category {
  const { cluster, server, isVerified, version, clockOffMs = 0, rules, kinds, overlaps, operator } = facts;
  const answers = `${server} answers the account that was made for us`;
  if ('problem' in version)
    return { name: cluster, checks: [fail(answers, 'JoinedClusterUnreachable', version.problem)] };
  const missingKinds = [...kinds].filter(([, isThere]) => !isThere).map(([kind]) => kind);
  const checks: CheckResult[] = [
    fine(`${answers} (${version.value})`),
    isVerified
      ? fine('the server is verified by its authority')
      : warn('the server is verified by its authority', 'JoinedServerNotVerified', server),
    isElsewhere(server)
      ? fine('the address is that of another machine')
      : warn('the address is that of another machine', 'JoinedServerIsLocal', server),
    verdict(
      'the clocks agree',
      clockOffMs > MAX_CLOCK_MS ? [`they are ${Math.round(clockOffMs / 1000)} s apart`] : [],
      warn,
      'JoinedClockDiffers',
    ),
    'problem' in rules
      ? warn('the account has the rights that are used', 'CannotLook', rules.problem)
      : verdict('the account has the rights that are used', missingOf(facts), fail, 'JoinedRightsMissing'),
    verdict('and no others', excessOf(facts), warn, 'JoinedRightsTooBroad'),
    verdict('the kinds that are needed are there', missingKinds, fail, 'JoinedKindMissing'),
    verdict('pods here and there have addresses of their own', overlaps, warn, 'PodNetworksOverlap'),
  ];
  return { name: cluster, checks: [...checks, ...operatorChecks(operator)] };
}

function operatorChecks(operator: JoinedFacts['operator']): CheckResult[] {
  const description = 'the operator reaches it, too';
  if (operator === undefined) return [];
  if (operator === 'silent')
    return [warn(description, 'OperatorSaysNothing', 'it has not said anything about the cluster yet')];
  if (operator.reachable) return [fine(description)];
  return [fail(description, 'OperatorCannotReach', operator.problem ?? 'it does not say why')];
}

/** An address that means another thing in every machine and pod. */
function isElsewhere(server: string): boolean {
  const host = URL.parse(server)?.hostname ?? '';
  return !/^(localhost|127\.|\[::1\]$|0\.0\.0\.0$)/.test(host);
}
