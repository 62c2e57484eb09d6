/** The roads that an operator can serve. Discover runs in `isthmus dns`, which holds the records. */
export const OPERATOR_ROADS = ['proxy'] as const;

export type OperatorRoad = (typeof OPERATOR_ROADS)[number];
