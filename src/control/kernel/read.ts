/** Reads objects of an API server as resources; each version of an object only once. */
import type { KubeObject } from '../../kube/object.ts';
import type { Kind, Resource } from '../../resources/kind.ts';
import { pathText } from '../../resources/messages.ts';
import { parseAs } from '../../resources/parse.ts';

export type Read<R> = { resource: R; problem?: never } | { resource?: never; problem: string };

const known = new WeakMap<KubeObject, Read<Resource>>();

/** The resource, or what keeps it from being one: an API server lets pass what no CRD can express. */
export function read<R extends Resource>(kind: Kind<R>, object: KubeObject): Read<R> {
  const before = known.get(object);
  if (before) return before as Read<R>;
  const parsed = parseAs(kind, object, { unknownFields: 'ignore' });
  const result: Read<R> = parsed.ok
    ? { resource: parsed.resource }
    : { problem: parsed.problems.map(({ path, message }) => `${pathText(path)} ${message}`).join('; ') };
  known.set(object, result);
  return result;
}
