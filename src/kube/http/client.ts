import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Connection } from './connection.ts';
import { createDiscovery, pathOf } from './discovery.ts';
import type { Resource } from './discovery.ts';
import { hasStatus } from './errors.ts';
import { listPages } from './list.ts';
import type { ListOptions, Page } from './list.ts';
import { typeOf } from '../object.ts';
import type { AnyObject, KubeObject, ObjectName, ResourceType } from '../object.ts';
import { createRequests } from './requests.ts';
import type { Reach, RequestCounts, RequestOptions } from './requests.ts';
import { openWatch } from './watch.ts';
import type { WatchEvent, WatchOptions } from './watch.ts';

export interface WriteOptions extends RequestOptions {
  subresource?: string | undefined;
  /** Who is to be named as owner of the fields written. */
  fieldManager?: string | undefined;
}

export interface CreateOptions extends WriteOptions {
  /** Only asks whether it would be taken. */
  dryRun?: boolean;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  /** Take fields over from other managers. */
  force?: boolean;
  dryRun?: boolean;
}

export interface DeleteOptions extends RequestOptions {
  /** Delete only this incarnation. */
  uid?: string | undefined;
  /** Delete only this version. */
  resourceVersion?: string | undefined;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * A client of one API server. Objects go in and out as they are on the wire: nothing is dropped, renamed or converted.
 * Every call has a deadline; what fails is an `ApiError`.
 */
export interface Client {
  readonly server: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  readonly counts: Readonly<RequestCounts>;
  readonly reach: Readonly<Reach>;
  /** How the server spells this kind; throws if it does not have it. */
  resource(type: ResourceType): Promise<Resource>;
  /** The object, or undefined if it does not exist. */
  get<T extends KubeObject = AnyObject>(
    type: ResourceType,
    name: ObjectName,
    options?: RequestOptions,
  ): Promise<T | undefined>;
  list<T extends KubeObject = AnyObject>(
    type: ResourceType,
    options?: ListOptions,
  ): Promise<{ items: T[]; resourceVersion: string }>;
  /** The same page by page; a page that is `first` starts over and makes all before it void. */
  listPages<T extends KubeObject = AnyObject>(
    type: ResourceType,
    options?: ListOptions,
  ): AsyncGenerator<Page<T>>;
  /** Changes as they happen; ends when the server ends it. */
  watch<T extends KubeObject = AnyObject>(
    type: ResourceType,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>>;
  create<T extends KubeObject>(object: T, options?: CreateOptions): Promise<T>;
  /** Replaces the object; with a resourceVersion in it, only if nobody was quicker. */
  update<T extends KubeObject>(object: T, options?: WriteOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<{ object: T; created: boolean }>;
  mergePatch<T extends KubeObject = AnyObject>(
    type: ResourceType,
    name: ObjectName,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** False if there was nothing to delete. */
  delete(type: ResourceType, name: ObjectName, options?: DeleteOptions): Promise<boolean>;
  /** Reads any path, such as `/version`. */
  read(path: string, options?: RequestOptions): Promise<unknown>;
  /** Posts to any path, such as a subresource with a kind of its own. */
  post(path: string, body: object, options?: RequestOptions): Promise<unknown>;
  /** Ends watches at once and lets requests finish, up to `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

export interface ClientOptions {
  clock?: Clock;
  maxResponseBytes?: number;
}

export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  const requests = createRequests(connection, { clock: systemClock, ...options });
  const resource = createDiscovery(requests);
  const path = async (type: ResourceType, name: Partial<ObjectName>, subresource?: string) =>
    pathOf(await resource(type), name, subresource);

  return {
    server: connection.server,
    namespace: connection.namespace,
    counts: requests.counts,
    reach: requests.reach,
    resource,
    close: (graceMs) => requests.close(graceMs),

    async get<T extends KubeObject>(type: ResourceType, name: ObjectName, options?: RequestOptions) {
      const target = await path(type, name);
      try {
        return (await requests.call({ verb: 'get', method: 'GET', path: target, ...options })).body as T;
      } catch (error) {
        if (hasStatus(error, 404)) return undefined;
        throw error;
      }
    },

    async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}) {
      let items: T[] = [];
      let resourceVersion = '';
      for await (const page of listPages<T>(requests, await resource(type), options)) {
        items = page.first ? page.items : items.concat(page.items);
        resourceVersion = page.resourceVersion;
      }
      return { items, resourceVersion };
    },

    async *listPages<T extends KubeObject>(type: ResourceType, options: ListOptions = {}) {
      yield* listPages<T>(requests, await resource(type), options);
    },

    async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions) {
      yield* openWatch<T>(requests, await resource(type), options);
    },

    async create<T extends KubeObject>(
      object: T,
      { subresource, fieldManager, dryRun, ...options }: CreateOptions = {},
    ) {
      const { namespace } = object.metadata;
      const found = await resource(typeOf(object));
      if (found.namespaced && !namespace) throw new TypeError(`${object.kind}: a namespace is needed`);
      const target = pathOf(found, { namespace }, subresource);
      const call = {
        verb: 'create',
        method: 'POST',
        path: target,
        query: { fieldManager, dryRun: dryRun ? 'All' : undefined },
        body: object,
      } as const;
      return (await requests.call({ ...call, ...options })).body as T;
    },

    async update<T extends KubeObject>(
      object: T,
      { subresource, fieldManager, ...options }: WriteOptions = {},
    ) {
      const target = await path(typeOf(object), object.metadata, subresource);
      const call = {
        verb: 'update',
        method: 'PUT',
        path: target,
        query: { fieldManager },
        body: object,
      } as const;
      return (await requests.call({ ...call, ...options })).body as T;
    },

    async apply<T extends KubeObject>(object: T, options: ApplyOptions) {
      const { fieldManager, force = true, dryRun, subresource, ...rest } = options;
      const answer = await requests.call({
        verb: 'patch',
        method: 'PATCH',
        path: await path(typeOf(object), object.metadata, subresource),
        // Strict: a field that this server does not know would otherwise be dropped without a word.
        query: {
          fieldManager,
          force: String(force),
          fieldValidation: 'Strict',
          dryRun: dryRun ? 'All' : undefined,
        },
        contentType: 'application/apply-patch+yaml', // JSON is YAML
        body: object,
        ...rest,
      });
      return { object: answer.body as T, created: answer.status === 201 };
    },

    async mergePatch<T extends KubeObject>(
      type: ResourceType,
      name: ObjectName,
      patch: object,
      { subresource, fieldManager, ...options }: WriteOptions = {},
    ) {
      const answer = await requests.call({
        verb: 'patch',
        method: 'PATCH',
        path: await path(type, name, subresource),
        query: { fieldManager },
        contentType: 'application/merge-patch+json',
        body: patch,
        ...options,
      });
      return answer.body as T;
    },

    async delete(type, name, { uid, resourceVersion, propagationPolicy = 'Background', ...options } = {}) {
      const target = await path(type, name);
      const body = { propagationPolicy, preconditions: { uid, resourceVersion } };
      try {
        await requests.call({ verb: 'delete', method: 'DELETE', path: target, body, ...options });
        return true;
      } catch (error) {
        if (hasStatus(error, 404)) return false;
        throw error;
      }
    },

    async read(path, options) {
      return (await requests.call({ verb: 'get', method: 'GET', path, ...options })).body;
    },

    async post(path, body, options) {
      return (await requests.call({ verb: 'create', method: 'POST', path, body, ...options })).body;
    },
  };
}
