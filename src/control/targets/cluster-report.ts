/** What the operator says of joined clusters, in a ConfigMap: for people, and for `isthmus clusters`, which may not read its memory. */
import { z } from 'zod';
import type { AnyObject } from '../../kube/object.ts';
import type { TargetState } from './targets.ts';

/** In the operator's namespace: an entry for each joined cluster. */
export const CLUSTERS_MAP = 'isthmus-clusters';

const reportSchema = z.object({
  server: z.string().optional(),
  /** Left out until it has been asked. */
  reachable: z.boolean().optional(),
  /** When that began. */
  since: z.string().optional(),
  problem: z.string().optional(),
  version: z.string().optional(),
  credentialExpires: z.string().optional(),
  warnings: z.array(z.object({ reason: z.string(), message: z.string() })).default([]),
});

export type ClusterReport = z.output<typeof reportSchema>;

const MAX_TEXT = 2000;

/** Other servers have a say in what is wrong with them. */
const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Nothing in it moves with time, so that the same state is written once. */
export function reportOf({
  server,
  reach,
  version,
  credentialExpiresAt,
  warnings,
}: TargetState): ClusterReport {
  return {
    ...(server !== undefined && { server }),
    ...(reach.state !== 'unknown' && {
      reachable: reach.state === 'reachable',
      since: new Date(reach.since).toISOString(),
    }),
    ...(reach.state === 'unreachable' && { problem: cut(reach.problem) }),
    ...(version !== undefined && { version }),
    ...(credentialExpiresAt !== undefined && {
      credentialExpires: new Date(credentialExpiresAt).toISOString(),
    }),
    warnings: warnings.map(({ reason, message }) => ({ reason, message: cut(message) })),
  };
}

/** Reads the ConfigMap; an entry that cannot be read is left out. */
export function readReport(map: AnyObject | undefined): Record<string, ClusterReport> {
  const entries = Object.entries((map?.['data'] ?? {}) as Record<string, string>);
  return Object.fromEntries(
    entries.flatMap(([name, text]) => {
      const read = reportSchema.safeParse(parsed(text));
      return read.success ? [[name, read.data] as const] : [];
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
