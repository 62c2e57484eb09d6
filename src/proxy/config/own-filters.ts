import { moduleOf } from '../../ops/filter-module.ts';
import { namedHash } from './canonical.ts';
import { withoutCertificates } from './diff.ts';
import type { VirtualClusterConfig } from './model.ts';

/** Whether a virtual cluster has filters of the user's own. */
export const hasOwnFilters = ({ filters }: Pick<VirtualClusterConfig, 'filters'>): boolean =>
  filters.some(({ type }) => moduleOf(type) !== undefined);

/** Under what is remembered what a virtual cluster has done. One that has changed is another; new certificates alone change nothing. */
export const serviceKey = (config: VirtualClusterConfig): string =>
  namedHash(config.name, withoutCertificates(config));
