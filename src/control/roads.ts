/** The roads that an operator can serve. Discover runs in `isthmus dns`, which holds the records. */
export const OPERATOR_ROADS = ['proxy', 'kafka', 'redpanda', 'pod-sets'] as const;

export type OperatorRoad = (typeof OPERATOR_ROADS)[number];

/** Those that it serves unless told otherwise. */
export const DEFAULT_ROADS: readonly OperatorRoad[] = ['proxy'];
