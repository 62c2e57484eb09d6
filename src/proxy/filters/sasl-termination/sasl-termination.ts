import { setTimeout as delay } from 'node:timers/promises';
import type { ApiName } from '../../../kafka/apis.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import type { Requests } from '../../../kafka/schemas/types.ts';
import { openVerifier } from '../../../crypto/tokens/verifier.ts';
import type { Log } from '../../../ops/log.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import type { ConnectionContext, ConnectionFilter, FilterType } from '../../filter.ts';
import { logInToBroker } from './broker-login.ts';
import type { LoggedIn } from './broker-login.ts';
import { saslTerminationSchema } from './config.ts';
import type { SaslTerminationConfig } from './config.ts';
import type { Exchange, Mechanism } from './exchange.ts';
import { oauthMechanism } from './oauth.ts';
import { plainMechanism, scramMechanism } from './passwords.ts';

/**
 * Takes logins in the broker's place: the broker sees none of them. Towards it the proxy logs in by itself, as one user
 * for all or as another for each, or not at all.
 */
export const saslTermination: FilterType<SaslTerminationConfig> = {
  config: saslTerminationSchema,
  secretFields: [
    'users',
    'broker.password',
    'broker.users.*.password',
    'mechanisms.*.tls.trust.certificates',
  ],
  create(config, { virtualCluster, name, metrics, outbound, log }) {
    const mechanisms = mechanismsOf(config, outbound, log);
    const logins = metrics.counter(
      'isthmus_filter_sasl_termination_logins_total',
      'Logins, by what came of them',
    );
    const labels = { virtual_cluster: virtualCluster, filter: name };
    return {
      connect: (context) => connectionFilter(config, mechanisms, { logins, labels }, context),
      close() {
        for (const mechanism of mechanisms) mechanism.close?.();
      },
    };
  },
};

function mechanismsOf(
  { mechanisms, users = new Map() }: SaslTerminationConfig,
  outbound: Outbound,
  log: Log,
): Mechanism[] {
  return mechanisms.map((each) => {
    if (each.mechanism === 'OAUTHBEARER') {
      const { verify, close } = openVerifier(each, outbound, log);
      return { ...oauthMechanism(verify), close };
    }
    return each.mechanism === 'PLAIN' ? plainMechanism(users) : scramMechanism(each.mechanism, users);
  });
}

/** As it stands in the metric, beside the mechanisms of logins. */
const CERTIFICATE = 'certificate';
/** The part of its time after which a connection is ended: what is under way then has the rest. */
const EXPIRES_AT = 0.8;
/** What a timer can wait; it would take more for no time at all. */
const LONGEST_MS = 0x7fff_ffff;

interface Counting {
  logins: Family<Cell>;
  labels: Record<string, string>;
}

const { ILLEGAL_SASL_STATE, SASL_AUTHENTICATION_FAILED, UNSUPPORTED_SASL_MECHANISM } = ERRORS;

/**
 * Credentials of the broker: who is the same user there as others, or the proxy itself, must neither make nor change
 * any for it.
 */
const BROKER_CREDENTIALS: readonly ApiName[] = [
  'CreateDelegationToken',
  'RenewDelegationToken',
  'ExpireDelegationToken',
  'DescribeDelegationToken',
  'DescribeUserScramCredentials',
  'AlterUserScramCredentials',
];

function connectionFilter(
  config: SaslTerminationConfig,
  mechanisms: readonly Mechanism[],
  { logins, labels }: Counting,
  context: ConnectionContext,
): ConnectionFilter {
  let login: { mechanism: string; exchange: Exchange } | undefined;
  let known: string | undefined;
  /** Until when the login holds. */
  let until = Infinity;
  /** How long the broker lets its own login hold; 0 is for ever, and then it takes no other one. */
  let brokerLifetimeMs: number | undefined;
  /** Ends a connection that nobody logs in to again. */
  let expiry: NodeJS.Timeout | undefined;

  const refuse = (mechanism: string, why: string) => {
    login = undefined;
    logins.of({ ...labels, mechanism, outcome: 'refused' }).value += 1;
    context.log.debug({ client: context.clientAddress, mechanism, why }, 'login refused');
    context.closeSoon('a login was refused');
    const errorMessage = 'Authentication failed';
    return { respond: { errorCode: SASL_AUTHENTICATION_FAILED.code, errorMessage } };
  };
  const logInThere = async (user: string): Promise<LoggedIn> => {
    if (!config.broker || brokerLifetimeMs === 0) return { lifetimeMs: 0 };
    const outcome = await logInToBroker(config.broker, user, context);
    if ('refused' in outcome)
      context.log.error(
        { client: context.clientAddress, why: outcome.refused },
        'proxy cannot log in to the broker',
      );
    else brokerLifetimeMs = outcome.lifetimeMs;
    return outcome;
  };
  /** As slow for every reason: guessing is not worth the while. */
  const refuseSlowly = async (mechanism: string, why: string) => {
    await delay(config.fixedAuthDelay);
    return refuse(mechanism, why);
  };
  const accept = async (mechanism: string, user: string, last: Buffer, lifetimeMs?: number) => {
    if (known !== undefined && known !== user)
      return refuseSlowly(mechanism, 'a login as somebody else than before');
    const there = await logInThere(user);
    // At once: the broker is about to close the connection, and the client's would be closed with it, unanswered.
    if ('refused' in there) return refuse(mechanism, there.refused);
    login = undefined;
    known = user;
    context.identify(user);
    logins.of({ ...labels, mechanism, outcome: 'accepted' }).value += 1;
    const most = shortest(lifetimeMs, config.maxTimeBeforeReauth, there.lifetimeMs);
    until = performance.now() + most;
    const sessionLifetimeMs = BigInt(most < Infinity ? Math.floor(most) : 0);
    return { respond: { errorCode: 0, authBytes: last, sessionLifetimeMs } };
  };
  /** Nothing of such a login is said to the client: it connects again before the broker's own login ends. */
  const acceptCertificate = async () => {
    const { principal: subject } = context;
    if (known !== undefined) return undefined;
    if (!subject) return { close: 'a request before a login, and without a certificate that names somebody' };
    const there = await logInThere(subject);
    const outcome = 'refused' in there ? 'refused' : 'accepted';
    logins.of({ ...labels, mechanism: CERTIFICATE, outcome }).value += 1;
    if ('refused' in there) {
      await delay(config.fixedAuthDelay);
      return { close: there.refused };
    }
    known = subject;
    const most = shortest(config.maxTimeBeforeReauth, there.lifetimeMs);
    if (most < Infinity) {
      const close = () => context.closeSoon('the login of its certificate ends');
      expiry = setTimeout(close, Math.min(most * EXPIRES_AT, LONGEST_MS)).unref();
    }
    return undefined;
  };

  return {
    newestVersions: Object.fromEntries(BROKER_CREDENTIALS.map((api) => [api, -1])),
    isStranger: () => known === undefined || (until < Infinity && performance.now() > until),
    ...(config.clientCertificates && { onBegin: acceptCertificate }),
    onRequest: {
      SaslHandshake({ mechanism: wanted }: Requests['SaslHandshake']) {
        const names = mechanisms.map(({ name }) => name);
        const mechanism = mechanisms.find(({ name }) => name === wanted);
        login = mechanism && { mechanism: wanted, exchange: mechanism.start() };
        return { respond: { errorCode: mechanism ? 0 : UNSUPPORTED_SASL_MECHANISM.code, mechanisms: names } };
      },
      async SaslAuthenticate({ authBytes }: Requests['SaslAuthenticate']) {
        if (!login)
          return {
            respond: { errorCode: ILLEGAL_SASL_STATE.code, errorMessage: 'SaslHandshake comes first' },
          };
        const { mechanism, exchange } = login;
        const step = await exchange.step(authBytes);
        if ('challenge' in step) return { respond: { errorCode: 0, authBytes: step.challenge } };
        if ('refused' in step) return refuseSlowly(mechanism, step.refused);
        return accept(mechanism, step.user, step.last, step.lifetimeMs);
      },
    },
    onClose: () => clearTimeout(expiry),
  };
}

/** The shortest of some times, where 0 and undefined are without end. */
const shortest = (...times: (number | undefined)[]) => Math.min(...times.map((each) => each || Infinity));
