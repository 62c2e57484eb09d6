import type { ApiName } from '../../../kafka/apis.ts';
import { topicIdsIn } from '../../../kafka/names.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import { shortened } from '../../../ops/shortened.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, MessageContext } from '../../filter.ts';
import { auditSchema, DATA } from './config.ts';
import type { AuditConfig } from './config.ts';
import { errorsIn, namesIn } from './entry.ts';
import type { Named } from './entry.ts';
import { createSummaries } from './summaries.ts';
import type { Summaries } from './summaries.ts';

/**
 * Writes down who did what, and what came of it: a line of the log for each request that changes something, and a line
 * now and then for the records of a topic. Put it first in the list: then it sees what other filters refuse, too.
 */
export const audit: FilterType<AuditConfig> = {
  config: auditSchema,
  create(config, { virtualCluster, name, metrics }) {
    const entries = metrics.counter('isthmus_filter_audit_entries_total', 'Lines of the audit, by API');
    const labels = { virtual_cluster: virtualCluster, filter: name };
    return { connect: (context) => connectionFilter(config, { entries, labels }, context) };
  },
};

interface Counting {
  entries: Family<Cell>;
  labels: Record<string, string>;
}

/** A request whose response has not come yet. */
interface Pending {
  api: ApiName;
  correlationId: number;
  clientId: string | null;
  named: Named;
}

function connectionFilter(
  { apis, summaryEvery }: AuditConfig,
  { entries, labels }: Counting,
  context: ConnectionContext,
): ConnectionFilter {
  /** In the order of requests, which is that of responses: nothing keeps a client from using an id twice. */
  const pending: Pending[] = [];
  const write = (api: ApiName, fields: object) => {
    const { clientAddress: client, gateway, virtualCluster } = context;
    const principal = context.principal ?? null;
    context.log.info(
      { logger: 'audit', virtualCluster, gateway, client, principal, api, ...fields },
      'audit',
    );
    entries.of({ ...labels, api }).value += 1;
  };
  const summaries: Summaries = createSummaries(summaryEvery, write);
  const finish = ({ api, clientId, named }: Pending, errors: string[] | undefined) => {
    if (DATA.includes(api)) summaries.add(api, clientId, named.topics ?? [], errors);
    else write(api, { clientId, ...named, ...outcomeOf(errors) });
  };
  const onRequest = async (request: object, { api, correlationId, clientId }: MessageContext) => {
    const ids = topicIdsIn(`${api}Request`, request);
    const byId = ids.size > 0 ? [...(await context.topicNames(ids)).values()] : [];
    const named = namesIn(api, request, byId);
    const entry = { api, correlationId, clientId: clientId === null ? null : shortened(clientId), named };
    if (api === 'Produce' && (request as { acks: number }).acks === 0) finish(entry, undefined);
    else pending.push(entry);
    return undefined;
  };
  const onResponse = (response: object, { api, correlationId }: MessageContext) => {
    const at = pending.findIndex((each) => each.api === api && each.correlationId === correlationId);
    const [entry] = at < 0 ? [] : pending.splice(at, 1);
    if (entry) finish(entry, errorsIn(response));
    return undefined;
  };
  const forAll = <T>(handler: T) => Object.fromEntries(apis.map((api) => [api, handler]));
  return {
    // What nobody can read, nobody can write down.
    onlyKnownApis: true,
    onRequest: forAll(onRequest),
    onResponse: forAll(onResponse),
    onClose() {
      for (const entry of pending.splice(0)) finish(entry, undefined);
      summaries.flush();
    },
  };
}

/** Without a response nobody knows: the broker may have done it. */
function outcomeOf(errors: string[] | undefined): object {
  if (errors === undefined) return { outcome: 'unknown' };
  return errors.length === 0 ? { outcome: 'done' } : { outcome: 'errors', errors };
}
