import type { Road } from '../resources/kind.ts';

/** The four ways across the boundary; an operator serves all of them unless told otherwise. */
export const ROADS = ['proxy', 'expose', 'stretch', 'discover'] as const satisfies Road[];
export type { Road };
