import { createHash } from 'node:crypto';
import type { VirtualClusterConfig } from './model.ts';

/** JSON with the keys of every object in order, so that equal configurations are equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A name, and which version of something it is of. */
export const namedHash = (name: string, version: unknown): string =>
  `${name} ${createHash('sha256').update(canonical(version)).digest('hex')}`;

/** The name in it. */
export const nameInKey = (key: string): string => key.split(' ', 1)[0]!;

/**
 * Under what the brokers of a virtual cluster are remembered. A target of before has another key: what is still learned
 * of it while its last connections drain must not lead anyone there.
 */
export function targetKey({ name, target }: Pick<VirtualClusterConfig, 'name' | 'target'>): string {
  return namedHash(name, target);
}
