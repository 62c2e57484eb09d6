import { startScram } from '../../../kafka/scram.ts';
import type { ConnectionContext } from '../../filter.ts';
import type { BrokerLogin } from './config.ts';

/** The version of SaslAuthenticate that says how long a login holds; every broker since Kafka 2.2 has it. */
const AUTHENTICATE_VERSION = 1;
const HANDSHAKE_VERSION = 1;

/** What came of it: how long the broker lets it hold (0 is for ever), or why not. */
export type LoggedIn = { lifetimeMs: number } | { refused: string };

/** Logs in to the broker on the client's connection, as whoever the client is there. */
export async function logInToBroker(
  { mechanism, username, password, users }: BrokerLogin,
  principal: string,
  { ask }: Pick<ConnectionContext, 'ask'>,
): Promise<LoggedIn> {
  const identity = users.find((each) => each.principal === principal) ?? { username, password };
  if (identity.username === undefined || identity.password === undefined)
    return { refused: 'the user has no identity at the broker' };
  const handshake = await ask('SaslHandshake', HANDSHAKE_VERSION, { mechanism });
  if (handshake.errorCode !== 0) return { refused: `the broker does not take ${mechanism}` };
  const send = async (text: string) =>
    ask('SaslAuthenticate', AUTHENTICATE_VERSION, { authBytes: Buffer.from(text) });
  const credentials = { username: identity.username, password: identity.password };
  if (mechanism === 'PLAIN') {
    const { errorCode, sessionLifetimeMs } = await send(`\0${credentials.username}\0${credentials.password}`);
    return outcomeOf(errorCode, sessionLifetimeMs);
  }
  const scram = startScram(mechanism, credentials);
  const first = await send(scram.first);
  if (first.errorCode !== 0) return outcomeOf(first.errorCode, 0n);
  const { errorCode, authBytes, sessionLifetimeMs } = await send(
    await scram.final(first.authBytes.toString('utf8')),
  );
  if (errorCode === 0 && !scram.verify(authBytes.toString('utf8')))
    return { refused: 'the broker has not proven that it knows the password' };
  return outcomeOf(errorCode, sessionLifetimeMs);
}

function outcomeOf(errorCode: number, lifetime: bigint): LoggedIn {
  if (errorCode !== 0) return { refused: `the broker refused the proxy's own login (${errorCode})` };
  return { lifetimeMs: Number(lifetime) };
}
