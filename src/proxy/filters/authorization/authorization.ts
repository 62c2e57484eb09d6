import { z } from 'zod';
import type { ApiName } from '../../../kafka/apis.ts';
import { topicIdsIn } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { addEntries } from '../../../kafka/split-request.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import { shortened } from '../../../ops/shortened.ts';
import type {
  ConnectionContext,
  ConnectionFilter,
  FilterType,
  MessageContext,
  RequestVerdict,
} from '../../filter.ts';
import { allowedIn, denialsIn, hideUndescribed, judge } from './check.ts';
import type { May, Wish } from './check.ts';
import { askedOfRequest, askedOfResponse, decideAhead } from './decide-ahead.ts';
import { GUARDED, NEWEST_VERSIONS, RIGHTS } from './rights.ts';
import { parseRules, rulesOfUser } from './rules.ts';
import type { Rules, UserRules } from './rules.ts';

const AUTHORIZERS = ['AclAuthorizerService', 'io.kroxylicious.authorizer.provider.acl.AclAuthorizerService'];

const rules = z.string().transform((text, context): Rules => {
  try {
    return parseRules(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: messageOf(error) });
    return z.NEVER;
  }
});

const schema = z.strictObject({
  authorizer: z.enum(AUTHORIZERS, `must be ${AUTHORIZERS[0]}`).default(AUTHORIZERS[0]!),
  authorizerConfig: z.strictObject({ rules }),
  dryRun: z.boolean().default(false),
  logAllowed: z.boolean().default(false),
});

type Config = z.output<typeof schema>;

/**
 * Says what each client may do with which topics, groups and transactional ids, before the broker is asked. Denied is what
 * no rule allows, and every API that it does not know. With `dryRun` it only says what it would deny.
 */
export const authorization: FilterType<Config> = {
  config: schema,
  create({ authorizerConfig, dryRun, logAllowed }, { virtualCluster, name, metrics }) {
    const denied = metrics.counter(
      'isthmus_filter_authorization_denied_total',
      'Things that requests named and that were denied, or would be, by API',
    );
    const labels = { virtual_cluster: virtualCluster, filter: name, dry_run: String(dryRun) };
    const guard: Guard = { rules: authorizerConfig.rules, dryRun, logAllowed, denied, labels };
    return { connect: (context) => connectionFilter(guard, context) };
  },
};

interface Guard {
  rules: Rules;
  dryRun: boolean;
  logAllowed: boolean;
  denied: Family<Cell>;
  labels: Record<string, string>;
}

const MOST_LOGGED = 10;

function connectionFilter(guard: Guard, context: ConnectionContext): ConnectionFilter {
  /** By correlation id: entries that belong into a response that has not come yet. */
  const pending = new Map<number, Responses[ApiName]>();
  /** A client may log in as somebody while it is connected. */
  let known: { principal: string | undefined; rules: UserRules } | undefined;
  const rulesNow = (): UserRules => {
    const { principal } = context;
    if (known?.principal !== principal || !known)
      known = { principal, rules: rulesOfUser(guard.rules, principal) };
    return known.rules;
  };

  const onRequest = async (
    request: Requests[ApiName],
    { api, apiVersion, correlationId }: MessageContext,
  ): Promise<RequestVerdict> => {
    const ids = topicIdsIn(`${api}Request`, request);
    const names = ids.size > 0 ? await context.topicNames(ids) : new Map<string, string>();
    const may = await decideAhead(rulesNow(), () => askedOfRequest(api, apiVersion, request, names.values()));
    const denials = denialsIn(api, apiVersion, request, names.values(), may);
    reportDenied(guard, context, api, denials);
    const allowed =
      guard.logAllowed && denials !== 'cluster'
        ? allowedIn(api, apiVersion, request, names.values(), denials)
        : [];
    if (guard.dryRun) {
      reportAllowed(context, api, allowed);
      return undefined;
    }
    // An id is what somebody else may have told the client: it is not told more than that there is no such topic.
    const named = new Set(names.values());
    const byId = denials !== 'cluster' && denials.some(({ name }) => named.has(name));
    if (names.size < ids.size || byId) return { answer: 'UNKNOWN_TOPIC_ID' };
    const judgement = judge(api, apiVersion, request, denials);
    if ('refuse' in judgement) return { answer: judgement.refuse };
    if ('respond' in judgement) return { respond: judgement.respond };
    reportAllowed(context, api, allowed);
    if ('partly' in judgement && !wantsNoAnswer(api, request)) pending.set(correlationId, judgement.partly);
    if ('partly' in judgement || keepsFromCreating(api, request, may)) return { forward: request };
    return undefined;
  };
  const onResponse = (response: Responses[ApiName], { api, correlationId }: MessageContext) => {
    const entries = pending.get(correlationId);
    pending.delete(correlationId);
    const { lists = false } = RIGHTS[api]!;
    if (guard.dryRun || !(entries || lists)) return undefined;
    const finish = (may?: May) => {
      if (may) hideUndescribed(api, response, may);
      if (entries) addEntries(response, entries);
      return { forward: response };
    };
    return lists ? decideAhead(rulesNow(), () => askedOfResponse(api, response)).then(finish) : finish();
  };
  return {
    ...(guard.dryRun ? {} : { newestVersions: NEWEST_VERSIONS, onlyKnownApis: true }),
    onRequest: Object.fromEntries(GUARDED.map((api) => [api, onRequest])),
    onResponse: Object.fromEntries(GUARDED.map((api) => [api, onResponse])),
    onClose: () => pending.clear(),
  };
}

const wantsNoAnswer = (api: ApiName, request: Requests[ApiName]) =>
  api === 'Produce' && (request as Requests['Produce']).acks === 0;

/** A request for metadata makes the topics that it names, unless it says otherwise; true if that was changed. */
function keepsFromCreating(api: ApiName, request: Requests[ApiName], may: May): boolean {
  if (api !== 'Metadata') return false;
  const asked = request as Requests['Metadata'];
  const isFine = (asked.topics ?? []).every(({ name }) => !name || may('CREATE', 'TopicResource', name));
  if (!asked.allowAutoTopicCreation || isFine) return false;
  asked.allowAutoTopicCreation = false;
  return true;
}

function reportDenied(
  { dryRun, denied, labels }: Guard,
  context: ConnectionContext,
  api: ApiName,
  denials: readonly Wish[] | 'cluster',
): void {
  if (denials.length === 0) return;
  denied.of({ ...labels, api }).value += denials === 'cluster' ? 1 : denials.length;
  const what = denials === 'cluster' ? { denied: denials } : listed('denied', denials);
  context.log.info({ ...about(context, api), ...what, dryRun }, dryRun ? 'would be denied' : 'denied');
}

function reportAllowed(context: ConnectionContext, api: ApiName, allowed: readonly Wish[]): void {
  if (allowed.length > 0)
    context.log.info({ ...about(context, api), ...listed('allowed', allowed) }, 'allowed');
}

const about = ({ principal, clientAddress }: ConnectionContext, api: ApiName) => ({
  logger: 'authorization',
  principal: principal ?? null,
  client: clientAddress,
  api,
});

/** As many as a line may have, and how many more there are. */
const listed = (field: 'denied' | 'allowed', wishes: readonly Wish[]) => ({
  [field]: wishes.slice(0, MOST_LOGGED).map((each) => ({ ...each, name: shortened(each.name) })),
  ...(wishes.length > MOST_LOGGED && { more: wishes.length - MOST_LOGGED }),
});
