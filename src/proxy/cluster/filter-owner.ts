import { AsyncLocalStorage } from 'node:async_hooks';
import type { ConnectionFilter, Filter, FilterSetting } from '../filter.ts';

/** Whose code runs, where it is not ours: a filter of the user's own, and the virtual cluster that it is of. */
export interface FilterOwner {
  /** Of the virtual cluster, by its `serviceKey`. */
  service: string;
  /** The name of its definition. */
  filter: string;
}

type Within = <T>(work: () => T) => T;

/** Node carries it along to whatever the code goes on with later: behind an `await`, in timers, in events. */
const owners = new AsyncLocalStorage<FilterOwner>();

/** Whose code runs at this moment; undefined if it is ours. */
export const runningOwner = (): FilterOwner | undefined => owners.getStore();

/** Makes a filter all of whose code runs as its owner's. */
export function createOwned(
  owner: FilterOwner,
  setting: FilterSetting,
  create: (setting: FilterSetting) => Promise<Filter>,
): Promise<Filter> {
  return owners.run(owner, async (): Promise<Filter> => {
    // A third of the price of `run`, and one call of a handler pays it.
    const within: Within = AsyncLocalStorage.snapshot();
    const filter = await create(ownedSetting(setting, within));
    return {
      connect: (context) => within(() => ownedConnection(filter.connect(context), within)),
      problem: () => within(() => filter.problem?.()),
      close: () => within(() => filter.close?.()),
    };
  });
}

/** What it registers is called by us, on behalf of nobody. */
function ownedSetting(setting: FilterSetting, within: Within): FilterSetting {
  const { peers, metrics } = setting;
  return {
    ...setting,
    metrics: { ...metrics, beforeReport: (refresh) => metrics.beforeReport(() => within(refresh)) },
    peers: {
      tell: (message) => peers.tell(message),
      hear: (handler) => peers.hear((message) => within(() => handler(message))),
    },
  };
}

function ownedConnection(filter: ConnectionFilter, within: Within): ConnectionFilter {
  const { newestVersions, onlyKnownApis, onRequest, onResponse } = filter;
  return {
    ...(newestVersions && { newestVersions }),
    ...(onlyKnownApis !== undefined && { onlyKnownApis }),
    ...(filter.isStranger && { isStranger: () => within(() => filter.isStranger!()) }),
    ...(filter.onBegin && { onBegin: () => within(() => filter.onBegin!()) }),
    ...(onRequest && { onRequest: ownedHandlers(onRequest, within) }),
    ...(onResponse && { onResponse: ownedHandlers(onResponse, within) }),
    onClose: () => within(() => filter.onClose?.()),
  };
}

function ownedHandlers<Handlers extends object>(handlers: Handlers, within: Within): Handlers {
  const owned = Object.entries(handlers).map(([api, handler]: [string, unknown]) => [
    api,
    typeof handler === 'function'
      ? (...message: unknown[]): unknown => within(() => Reflect.apply(handler, handlers, message))
      : handler,
  ]);
  return Object.fromEntries(owned) as Handlers;
}
