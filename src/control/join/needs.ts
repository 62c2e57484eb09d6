/** What the account of a joined cluster is for, as rights: no more than the roads' own tables of watched kinds say. */
import { STRETCH_RIGHTS, VANTAGE_RIGHTS } from '../install/rbac.ts';
import { rightsOf } from '../kernel/rights.ts';
import type { PolicyRule, Right } from '../kernel/rights.ts';
import type { ReachMode } from '../discover/members/nodes.ts';
import { MEMBER_WATCHES, NODE_WATCHES } from '../discover/watches.ts';
import type { JoinRoad } from '../targets/names.ts';

export interface Needs {
  /** In the account's own namespace. */
  home: readonly Right[];
  /** In the namespaces of Kafkas. */
  namespaced: readonly Right[];
  /** In the whole cluster. */
  everywhere: readonly Right[];
}

/** The rights of an account that a cluster is joined with for these roads. */
export function needsOf(roads: readonly JoinRoad[], reach: ReachMode): Needs {
  const isStretched = roads.includes('stretch');
  const stretched = isStretched ? STRETCH_RIGHTS : [];
  const discovered = roads.includes('discover')
    ? [...rightsOf(MEMBER_WATCHES), ...(reach === 'pods' ? [] : rightsOf(NODE_WATCHES))]
    : [];
  return {
    home: roads.includes('probe') ? VANTAGE_RIGHTS : [],
    namespaced: stretched.filter(({ scope }) => scope === 'Namespaced'),
    everywhere: [...stretched.filter(({ scope }) => scope === 'Cluster'), ...discovered],
  };
}

/** To renew its own token, and nobody else's. */
export const renewalRule = (account: string): PolicyRule => ({
  apiGroups: [''],
  resources: ['serviceaccounts/token'],
  resourceNames: [account],
  verbs: ['create'],
});

/** The same as a right, for whoever compares. */
export const RENEWAL_RIGHT: Right = {
  group: '',
  resource: 'serviceaccounts/token',
  verbs: ['create'],
  scope: 'Namespaced',
};
