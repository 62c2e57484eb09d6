/**
 * Every reason that a condition or an event of Isthmus can have. A reason is permanent, as an error code is: it is searched for,
 * alerted on, and explained by `isthmus explain` and docs/reference/codes.md. One that is no longer given stays, and is not reused.
 */
import { DISCOVER_REASONS } from './discover.ts';
import type { CodeEntry } from './entry.ts';
import { KAFKA_REASONS } from './kafka.ts';
import { PROXY_REASONS } from './proxy.ts';
import { SHARED_REASONS } from './shared.ts';
import { TARGET_REASONS } from './targets.ts';

const ALL = { ...SHARED_REASONS, ...PROXY_REASONS, ...KAFKA_REASONS, ...DISCOVER_REASONS, ...TARGET_REASONS };

export type ReasonCode = keyof typeof ALL;

export const REASONS: Readonly<Record<ReasonCode, CodeEntry>> = ALL;
