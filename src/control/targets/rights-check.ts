/** Whether an account may do what is needed, by what the API server says of it. */
import type { PolicyRule, Right } from '../kernel/rights.ts';

/** `verb resource.group`, as people say it. */
export const rightText = (verb: string, { group, resource }: Pick<Right, 'group' | 'resource'>): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** Rules as a SelfSubjectRulesReview has them. */
export type GrantedRule = Pick<PolicyRule, 'verbs'> & Partial<PolicyRule>;

const has = (list: readonly string[] | undefined, word: string) =>
  list !== undefined && (list.includes(word) || list.includes('*'));

/** A rule may also name a subresource of all resources. */
function covers(rule: GrantedRule, { group, resource }: Pick<Right, 'group' | 'resource'>, verb: string) {
  const sub = resource.split('/')[1];
  const isNamed = has(rule.resources, resource) || (sub !== undefined && has(rule.resources, `*/${sub}`));
  return has(rule.apiGroups, group) && isNamed && has(rule.verbs, verb);
}

/** What is needed and not granted. A rule for some names only does not count for all of them. */
export function missingRights(rules: readonly GrantedRule[], needs: readonly Right[]): string[] {
  const whole = rules.filter(({ resourceNames }) => (resourceNames ?? []).length === 0);
  return needs.flatMap((need) =>
    need.verbs.flatMap((verb) =>
      whole.some((rule) => covers(rule, need, verb)) ? [] : [rightText(verb, need)],
    ),
  );
}

/** Whether the account may do everything. */
export function isAdministrator(rules: readonly GrantedRule[]): boolean {
  return rules.some(
    ({ apiGroups, resources, verbs, resourceNames }) =>
      (resourceNames ?? []).length === 0 &&
      [apiGroups, resources, verbs].every((list) => list?.includes('*')),
  );
}

/** What every account may ask about itself. */
const ABOUT_ONESELF = new Set(['authorization.k8s.io', 'authentication.k8s.io']);

/** What is granted and not needed. */
export function excessRights(rules: readonly GrantedRule[], needs: readonly Right[]): string[] {
  const excess = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups
      .filter((group) => !ABOUT_ONESELF.has(group))
      .flatMap((group) =>
        resources.flatMap((resource) =>
          verbs
            .filter(
              (verb) =>
                !needs.some(
                  (need) => need.group === group && need.resource === resource && need.verbs.includes(verb),
                ),
            )
            .map((verb) => rightText(verb, { group, resource })),
        ),
      ),
  );
  return [...new Set(excess)];
}
