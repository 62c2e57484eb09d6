import type { Peers } from '../../src/proxy/filter.ts';

/** A filter in the only process of its proxy. */
export const ALONE: Peers = { tell() {}, hear() {} };
