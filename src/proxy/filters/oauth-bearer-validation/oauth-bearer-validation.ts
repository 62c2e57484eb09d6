import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { openVerifier, tokenIssuer } from '../../../crypto/tokens/verifier.ts';
import type { VerifyToken } from '../../../crypto/tokens/verifier.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { tokenIn } from '../../../kafka/sasl.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, MessageContext } from '../../filter.ts';

const schema = z
  .strictObject({
    ...tokenIssuer,
    expectedIssuer: tokenIssuer.expectedIssuer.optional(),
    expectedAudience: tokenIssuer.expectedAudience.optional(),
    authenticateBackOffMaxMs: z.number().int().min(0).max(60_000).default(60_000),
    authenticateCacheMaxSize: z.number().int().min(1).max(100_000).default(1000),
  })
  .refine(({ expectedIssuer, expectedAudience }) => expectedIssuer ?? expectedAudience, {
    message: 'is needed, or expectedAudience is: a token for anybody else would do',
    path: ['expectedIssuer'],
  });

type Config = z.output<typeof schema>;

/** Lets logins by OAUTHBEARER through to the broker only with a token that is valid; what the broker makes of it is up to the broker. */
export const oauthBearerValidation: FilterType<Config> = {
  config: schema,
  secretFields: ['tls.trust.certificates'],
  create(config, { virtualCluster, name, metrics, outbound, log }) {
    const { verify, close } = openVerifier(config, outbound, log);
    const tokens = metrics.counter(
      'isthmus_filter_oauth_bearer_validation_tokens_total',
      'Tokens of logins, by what came of them',
    );
    const shared: Shared = {
      verify,
      waits: createWaits(config.authenticateBackOffMaxMs, config.authenticateCacheMaxSize),
      tokens,
      labels: { virtual_cluster: virtualCluster, filter: name },
    };
    return { connect: (context) => connectionFilter(shared, context), close };
  },
};

interface Shared {
  verify: VerifyToken;
  waits: (token: string) => number;
  tokens: Family<Cell>;
  labels: Record<string, string>;
}

const FIRST_WAIT_MS = 500;

/** How long the refusal of a token takes: twice as long each time that the same is sent again. Tokens are remembered by their digests. */
export function createWaits(mostMs: number, mostTokens: number): (token: string) => number {
  const refused = new BoundedMap<string, number>(mostTokens);
  return (token) => {
    const digest = createHash('sha256').update(token).digest('base64');
    const times = refused.get(digest) ?? 0;
    refused.set(digest, times + 1);
    return Math.min(mostMs, FIRST_WAIT_MS * 2 ** Math.min(times, 10));
  };
}

const MECHANISM = 'OAUTHBEARER';

function connectionFilter(
  { verify, waits, tokens, labels }: Shared,
  context: ConnectionContext,
): ConnectionFilter {
  /** The last mechanism that was asked for; a token is looked for in no other. */
  let mechanism: string | undefined;
  let user: string | undefined;
  let known: string | undefined;

  return {
    onRequest: {
      SaslHandshake({ mechanism: wanted }: Requests['SaslHandshake'], { apiVersion }: MessageContext) {
        // Its token would not be in a request, where nobody would find it.
        if (apiVersion === 0) return { close: 'a login of before SaslAuthenticate' };
        mechanism = wanted;
        user = undefined;
        return undefined;
      },
      async SaslAuthenticate({ authBytes }: Requests['SaslAuthenticate']) {
        if (mechanism !== MECHANISM) return undefined;
        // A second one, sent along before the broker has answered, is not the one that it accepts.
        if (user !== undefined) return { close: 'a second token before the first one was answered' };
        const token = tokenIn(authBytes) ?? '';
        const verified = await verify(token);
        const outcome = 'refused' in verified ? 'refused' : 'valid';
        tokens.of({ ...labels, outcome }).value += 1;
        if (!('refused' in verified)) {
          user = verified.user;
          return undefined;
        }
        context.log.debug({ client: context.clientAddress, why: verified.refused }, 'token refused');
        await delay(waits(token));
        context.closeSoon('a token was refused');
        const errorMessage = 'Authentication failed';
        return { respond: { errorCode: ERRORS.SASL_AUTHENTICATION_FAILED.code, errorMessage } };
      },
    },
    onResponse: {
      SaslAuthenticate({ errorCode }: Responses['SaslAuthenticate']) {
        const accepted = user;
        user = undefined;
        if (errorCode !== 0 || accepted === undefined) return undefined;
        if (known !== undefined && known !== accepted)
          return { close: 'a client logged in again as somebody else' };
        known = accepted;
        context.identify(accepted);
        return undefined;
      },
    },
  };
}
