/**
 * Who has been granted which DNS name, as it is written down: in ConfigMaps, one key for each name, so that it outlives every process.
 * A name belongs to one of a fixed number of ConfigMaps: 100,000 names need 10 MB, and one ConfigMap holds 1 MiB.
 */
import type { EntryKind } from './name-tree.ts';

export interface Grant {
  kind: EntryKind;
  /** The group that has it, see `Claim`. */
  group: string;
  /** When it was granted, as in a creationTimestamp. */
  since: string;
}

/** The grants at a name, as they are written down. */
export type GrantsAt = (name: string) => readonly Grant[];

export const GRANT_MAPS = 64;

/** In which of the ConfigMaps a name is. */
export function grantMapOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return (hash >>> 0) % GRANT_MAPS;
}

/** A key of a ConfigMap has no asterisk; no host name has a label that is a hyphen. */
export function keyOfName(name: string): string {
  return name.startsWith('*.') ? `-${name.slice(1)}` : name;
}

export function nameOfKey(key: string): string {
  return key.startsWith('-.') ? `*${key.slice(1)}` : key;
}

const LINE = /^(address|CNAME|SRV|TXT|PTR|NS) (\S+) (.+)$/;

/** Lines that somebody else has written are ignored. */
export function readGrants(text: string | undefined): Grant[] {
  return (text ?? '').split('\n').flatMap((line) => {
    const [, kind, since, group] = LINE.exec(line) ?? [];
    if (kind === undefined || since === undefined || group === undefined) return [];
    return [{ kind: kind as EntryKind, since, group }];
  });
}

/** The same grants always give the same text; none give null, which removes a key. */
export function writeGrants(grants: readonly Grant[]): string | null {
  const lines = grants.map(({ kind, since, group }) => `${kind} ${since} ${group}`);
  return lines.length === 0 ? null : lines.toSorted().join('\n');
}

/** The names whose grants differ between two versions of a ConfigMap. */
export function* changedNames(before: Data, after: Data): Generator<string> {
  for (const [key, text] of Object.entries(after)) if (before[key] !== text) yield nameOfKey(key);
  for (const key of Object.keys(before)) if (after[key] === undefined) yield nameOfKey(key);
}

/** The `data` of a ConfigMap. */
export type Data = Readonly<Record<string, string>>;
