import { pathOf } from './discovery.ts';
import type { Resource } from './discovery.ts';
import { ApiError, hasStatus } from './errors.ts';
import { readListBody } from './list-body.ts';
import { apiVersionOf } from '../object.ts';
import type { KubeObject } from '../object.ts';
import type { RequestOptions, Requests } from './requests.ts';

export interface Selection {
  /** All namespaces if not given. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Whether to be told the metadata of objects and nothing else: what they hold does not leave the server then. */
  metadataOnly?: boolean | undefined;
}

export interface ListOptions extends Selection, RequestOptions {
  /** `'0'`: whatever the server has in memory, which is cheap but may be old. Not given: the newest. */
  resourceVersion?: string | undefined;
  pageSize?: number;
}

export interface Page<T> {
  /** This page starts the list (again): what earlier pages said no longer counts. */
  first: boolean;
  items: T[];
  resourceVersion: string;
}

interface ListBody<T> {
  metadata?: { continue?: string; resourceVersion?: string };
  items?: T[] | null;
}

const PAGE_SIZE = 500;
const MAX_RESTARTS = 5;

/**
 * Lists page by page. A list that outlives the server's memory of its beginning (410) starts over; so does one whose pages
 * are larger than we are willing to read, with smaller pages. A server may ignore the page size when asked for what it has
 * in memory.
 */
export async function* listPages<T extends KubeObject>(
  requests: Requests,
  resource: Resource,
  options: ListOptions = {},
): AsyncGenerator<Page<T>> {
  let { pageSize = PAGE_SIZE, resourceVersion } = options;
  let token: string | undefined;
  for (let restarts = 0; ;) {
    try {
      const body = await askPage<T>(requests, resource, options, { pageSize, resourceVersion, token });
      yield {
        first: token === undefined,
        items: stamp(body.items ?? [], resource),
        resourceVersion: body.metadata?.resourceVersion ?? '',
      };
      token = body.metadata?.continue || undefined;
      if (token === undefined) return;
    } catch (error) {
      const expired = token !== undefined && hasStatus(error, 410);
      const tooLarge = error instanceof ApiError && error.reason === 'TooLarge' && pageSize > 1;
      if ((!expired && !tooLarge) || ++restarts > MAX_RESTARTS) throw error;
      if (tooLarge && resourceVersion !== '0') pageSize = Math.ceil(pageSize / 10);
      resourceVersion = undefined;
      token = undefined;
    }
  }
}

async function askPage<T>(
  requests: Requests,
  resource: Resource,
  { namespace, labelSelector, fieldSelector, metadataOnly, timeoutMs, signal }: ListOptions,
  page: { pageSize: number; resourceVersion: string | undefined; token: string | undefined },
): Promise<ListBody<T>> {
  const { body } = await requests.call({
    verb: 'list',
    method: 'GET',
    path: pathOf(resource, { namespace }),
    query: {
      labelSelector,
      fieldSelector,
      limit: String(page.pageSize),
      continue: page.token,
      // A continue token says already which version of the list it belongs to.
      resourceVersion: page.token === undefined ? page.resourceVersion : undefined,
    },
    accept: metadataOnly ? acceptMetadata('PartialObjectMetadataList') : undefined,
    timeoutMs,
    signal,
    read: readListBody,
  });
  return body as ListBody<T>;
}

/** Asks for metadata; a server that does not know that form answers with whole objects. */
export const acceptMetadata = (kind: 'PartialObjectMetadataList' | 'PartialObjectMetadata') =>
  `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

/** Items of a list come without kind and apiVersion, those of a watch with them. */
function stamp<T extends KubeObject>(items: T[], resource: Resource): T[] {
  const apiVersion = apiVersionOf(resource);
  for (const item of items) {
    item.apiVersion = apiVersion;
    item.kind = resource.kind;
  }
  return items;
}
