/** The four ways across the boundary; an operator serves all of them unless told otherwise. */
export const ROADS = ['proxy', 'expose', 'stretch', 'discover'] as const;
export type Road = (typeof ROADS)[number];
