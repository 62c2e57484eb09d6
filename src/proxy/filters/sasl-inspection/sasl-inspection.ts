import { z } from 'zod';
import { ERRORS } from '../../../kafka/errors.ts';
import { MECHANISMS, ROUNDS, userIn } from '../../../kafka/sasl.ts';
import type { Mechanism } from '../../../kafka/sasl.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, RequestHandlers } from '../../filter.ts';

const schema = z.strictObject({
  enabledMechanisms: z
    .array(z.enum(MECHANISMS))
    .min(1)
    .default(['SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']),
  requireAuthentication: z.boolean().default(false),
});

type Config = z.output<typeof schema>;

/**
 * Learns who a client is from the login that it has with the broker, for the filters behind this one. It takes no part in
 * the login: what counts is that the broker accepted it.
 */
export const saslInspection: FilterType<Config> = {
  config: schema,
  create: (config) => ({ connect: (context) => connectionFilter(config, context) }),
};

/** A login under way. */
interface Login {
  mechanism: Mechanism;
  user: string | undefined;
  /** Messages that are still to come, this one included. */
  rounds: number;
}

const OUT_OF_TURN = 'a message of a login before the last one was answered';

function connectionFilter(
  { enabledMechanisms, requireAuthentication }: Config,
  context: ConnectionContext,
): ConnectionFilter {
  let login: Login | undefined;
  let known: string | undefined;
  /** A message of a login is on its way: a second one, sent along, could say another name than the one that is accepted. */
  let waiting = false;
  const isEnabled = (name: string): name is Mechanism => (enabledMechanisms as string[]).includes(name);

  /** The broker has said yes to the last message of a login. */
  const accepted = ({ user }: Login) => {
    if (user === undefined) return { close: 'a client logged in, and it cannot be seen as whom' };
    if (known !== undefined && known !== user) return { close: 'a client logged in again as somebody else' };
    known = user;
    context.identify(user);
    return undefined;
  };

  const onRequest: RequestHandlers = {
    SaslHandshake({ mechanism }: Requests['SaslHandshake']) {
      if (waiting) return { close: OUT_OF_TURN };
      login = undefined;
      if (!isEnabled(mechanism))
        return {
          respond: { errorCode: ERRORS.UNSUPPORTED_SASL_MECHANISM.code, mechanisms: [...enabledMechanisms] },
        };
      waiting = true;
      login = { mechanism, user: undefined, rounds: ROUNDS[mechanism] };
      return undefined;
    },
    SaslAuthenticate({ authBytes }: Requests['SaslAuthenticate']) {
      if (waiting) return { close: OUT_OF_TURN };
      if (!login) return { close: 'a message of a login without its mechanism' };
      waiting = true;
      if (login.rounds === ROUNDS[login.mechanism]) login.user = userIn(login.mechanism, authBytes);
      return undefined;
    },
  };
  const onResponse = {
    SaslHandshake(response: Responses['SaslHandshake']) {
      waiting = false;
      response.mechanisms = response.mechanisms.filter(isEnabled);
      if (response.errorCode !== 0) login = undefined;
      return { forward: response };
    },
    SaslAuthenticate({ errorCode }: Responses['SaslAuthenticate']) {
      waiting = false;
      const current = login;
      if (!current) return { close: 'a response to no login' };
      if (errorCode !== 0) login = undefined;
      else if (--current.rounds === 0) {
        login = undefined;
        return accepted(current);
      }
      return undefined;
    },
  };
  return { onRequest, onResponse, isStranger: () => requireAuthentication && known === undefined };
}
