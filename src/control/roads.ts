/** The roads that an operator can serve, and what each needs. Discover runs in `isthmus dns`, which holds the records. */
import { rightsOf } from './kernel/rights.ts';
import type { Right } from './kernel/rights.ts';
import { PROXY_WATCHES } from './proxy/watches.ts';

/** What an operator may do for each road: the rights that its table of watched kinds amounts to. */
export const ROAD_RIGHTS = {
  proxy: rightsOf(PROXY_WATCHES),
} satisfies Record<string, Right[]>;

export type OperatorRoad = keyof typeof ROAD_RIGHTS;

export const OPERATOR_ROADS = Object.keys(ROAD_RIGHTS) as OperatorRoad[];
