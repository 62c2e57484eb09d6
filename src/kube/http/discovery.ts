import { ApiError, localError } from './errors.ts';
import { apiVersionOf } from '../object.ts';
import type { ObjectName, ResourceType } from '../object.ts';
import type { Requests } from './requests.ts';

/** How the server spells a kind in its paths. */
export interface Resource extends ResourceType {
  plural: string;
  namespaced: boolean;
}

interface ApiResource {
  name: string;
  kind: string;
  namespaced: boolean;
}

/** Finds out how kinds are spelled in paths, and remembers it. A kind that is not there is asked for each time: it may come. */
export function createDiscovery(requests: Requests): (type: ResourceType) => Promise<Resource> {
  const known = new Map<string, Promise<ApiResource[]>>();

  function ask(apiVersion: string, root: string): Promise<ApiResource[]> {
    const answer = requests
      .call({ verb: 'get', method: 'GET', path: `${root}/${apiVersion}` })
      .then(({ body }) => (body as { resources?: ApiResource[] } | undefined)?.resources ?? [])
      .catch((error: unknown) => {
        known.delete(apiVersion);
        if (error instanceof ApiError && error.status === 404) return [];
        throw error;
      });
    known.set(apiVersion, answer);
    return answer;
  }

  return async (type) => {
    const apiVersion = apiVersionOf(type);
    const root = type.group === '' ? '/api' : '/apis';
    const fits = (resource: ApiResource) => resource.kind === type.kind && !resource.name.includes('/');
    const asked = known.get(apiVersion);
    const remembered = await (asked ?? ask(apiVersion, root));
    const found = remembered.find(fits) ?? (asked && (await ask(apiVersion, root)).find(fits));
    if (!found) throw localError('KindNotServed', `the server has no kind ${type.kind} in ${apiVersion}`);
    const { group, version, kind } = type;
    return { group, version, kind, plural: found.name, namespaced: found.namespaced };
  };
}

/** The path of a collection (all namespaces, if none is given) or, with a name, of one object. */
export function pathOf(
  resource: Resource,
  { namespace, name }: Partial<ObjectName>,
  subresource?: string,
): string {
  const root = resource.group === '' ? '/api' : '/apis';
  const inNamespace = resource.namespaced && namespace !== undefined && namespace !== '';
  // Without this, a forgotten namespace would address another object, or all of them.
  if (name !== undefined && resource.namespaced && !inNamespace)
    throw new TypeError(`${resource.kind} ${name}: a namespace is needed`);
  return [
    `${root}/${apiVersionOf(resource)}`,
    ...(inNamespace ? ['namespaces', encodeURIComponent(namespace)] : []),
    resource.plural,
    ...(name === undefined ? [] : [encodeURIComponent(name)]),
    ...(subresource === undefined ? [] : [subresource]),
  ].join('/');
}
