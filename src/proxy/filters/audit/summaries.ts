import type { ApiName } from '../../../kafka/apis.ts';

/** Requests with records, counted by topic and written down now and then. */
export interface Summaries {
  /** Counts a request; `errors` are undefined where no response came. */
  add(api: ApiName, clientId: string | null, topics: readonly string[], errors: string[] | undefined): void;
  flush(): void;
}

interface Summary {
  api: ApiName;
  clientId: string | null;
  topic: string;
  requests: number;
  /** How many of them had no response. */
  unanswered: number;
  errors: Set<string>;
}

/** Beyond that everything is written down at once. */
const MOST_SUMMARIES = 100;
/** Fetch requests of a session name no topics once these are known. */
const AS_BEFORE = '(as before)';

/** Written down when so much time has passed since the first of them, and at the end. */
export function createSummaries(
  everyMs: number,
  write: (api: ApiName, fields: object) => void,
  now: () => number = () => performance.now(),
): Summaries {
  const open = new Map<string, Summary>();
  let since = now();
  const flush = () => {
    for (const { api, errors, unanswered, ...fields } of open.values())
      write(api, {
        ...fields,
        ...(unanswered > 0 ? { unanswered } : {}),
        ...(errors.size > 0 ? { errors: [...errors] } : {}),
      });
    open.clear();
    since = now();
  };
  return {
    add(api, clientId, topics, errors) {
      if (open.size > 0 && now() - since >= everyMs) flush();
      if (open.size === 0) since = now();
      for (const topic of topics.length > 0 ? topics : [AS_BEFORE]) {
        const key = `${api} ${clientId} ${topic}`;
        let summary = open.get(key);
        if (!summary) {
          if (open.size >= MOST_SUMMARIES) flush();
          summary = { api, clientId, topic, requests: 0, unanswered: 0, errors: new Set() };
          open.set(key, summary);
        }
        summary.requests += 1;
        if (errors === undefined) summary.unanswered += 1;
        for (const error of errors ?? []) summary.errors.add(error);
      }
    },
    flush,
  };
}
