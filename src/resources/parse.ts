/** From a document to a resource that the rest of the program can use, or to what is wrong with it. */
import type { Kind, Resource } from './kind.ts';
import { problemsOf } from './messages.ts';
import type { Problem } from './messages.ts';
import { nearest } from './nearest.ts';
import { prune } from './prune.ts';
import { KINDS, findKind } from './registry.ts';
import type { KnownResource } from './registry.ts';

export interface ParseOptions {
  /**
   * `refuse` (as kubectl does) for what people write; `ignore` for what an API server holds, where a newer version of
   * a CRD may know more than this program.
   */
  unknownFields?: 'refuse' | 'ignore';
}

export type Parsed<R> =
  | { ok: true; resource: R }
  /** `unknownKind`: perhaps fine, but not one of ours, such as a Secret. */
  | { ok: false; problems: Problem[]; unknownKind: boolean };

/** Finds the kind of a document, validates and normalises it. */
export function parseResource(document: unknown, options: ParseOptions = {}): Parsed<KnownResource> {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return refused([{ path: [], message: 'must be a mapping with apiVersion, kind, metadata and spec' }]);
  }
  const { apiVersion, kind } = document as Record<string, unknown>;
  const missing = Object.entries({ apiVersion, kind }).filter(([, value]) => typeof value !== 'string');
  if (missing.length > 0) return refused(missing.map(([name]) => ({ path: [name], message: 'is required' })));
  const found = findKind(String(apiVersion), String(kind));
  // Every kind in the registry yields one of the known resources; the types cannot say so for a kind not known yet.
  if (found) return parseAs(found as unknown as Kind<KnownResource>, document, options);
  return { ...refused([unknownKind(String(apiVersion), String(kind))]), unknownKind: true };
}

/**
 * Whether a document is of a kind that is none of our business, such as a Deployment. What looks like one of ours in a group
 * or a spelling that we do not know is not: somebody has made a mistake.
 */
export function isForeignKind(document: unknown): boolean {
  const { apiVersion, kind } = (document ?? {}) as Record<string, unknown>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || findKind(apiVersion, kind)) return false;
  if (apiVersion === 'v1') return kind !== 'Secret' && kind !== 'ConfigMap';
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
  const candidates = KINDS.filter((known) => known.install === 'default' || known.group === group);
  return (
    nearest(
      kind,
      candidates.map((known) => known.kind),
    ) === undefined
  );
}

/** Validates and normalises a document of a kind that is known already. */
export function parseAs<R extends Resource>(
  kind: Kind<R>,
  document: unknown,
  { unknownFields = 'refuse' }: ParseOptions = {},
): Parsed<R> {
  const pruned = prune(document, kind.structural());
  const unknown = unknownFields === 'ignore' ? [] : pruned.unknown.map(unknownField);
  const result = kind.schema.safeParse(pruned.value);
  if (!result.success) return refused([...unknown, ...problemsOf(result.error, pruned.value)]);
  if (unknown.length > 0) return refused(unknown);
  return { ok: true, resource: kind.normalise(result.data as never) };
}

function refused(problems: Problem[]): Extract<Parsed<never>, { ok: false }> {
  return { ok: false, problems, unknownKind: false };
}

function unknownField({ path, known }: { path: (string | number)[]; known: string[] }): Problem {
  const near = nearest(String(path.at(-1)), known);
  return { path, message: near ? `is not a field; did you mean ${near}?` : 'is not a field; remove it' };
}

function unknownKind(apiVersion: string, kind: string): Problem {
  const sameKind = KINDS.filter((known) => known.kind === kind);
  if (sameKind.length > 0) {
    const versions = sameKind.flatMap(({ group, versions }) =>
      versions.map((version) => `${group}/${version}`),
    );
    return { path: ['apiVersion'], message: `is not one that ${kind} has: write ${versions.join(' or ')}` };
  }
  const near = nearest(
    kind,
    KINDS.map((known) => known.kind),
  );
  const hint = near ? `; did you mean ${near}?` : '';
  return { path: ['kind'], message: `is not a kind that Isthmus knows: ${kind} of ${apiVersion}${hint}` };
}
