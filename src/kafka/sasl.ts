/** Who a client says it is, in the first message of each mechanism. Whether that is true, somebody else decides. */

export const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** How many messages a client sends until it is decided. */
export const ROUNDS: Record<Mechanism, number> = {
  PLAIN: 1,
  'SCRAM-SHA-256': 2,
  'SCRAM-SHA-512': 2,
  OAUTHBEARER: 1,
};

const MOST_BYTES = 64 * 1024;
const MOST_NAME = 1000;

const READERS: Record<Mechanism, (text: string) => string | undefined> = {
  PLAIN: (text) => readPlain(text)?.user,
  'SCRAM-SHA-256': readScram,
  'SCRAM-SHA-512': readScram,
  OAUTHBEARER: readToken,
};

/** The user in the first message; undefined if there is none to be found. */
export function userIn(mechanism: Mechanism, message: Buffer): string | undefined {
  if (message.length > MOST_BYTES) return undefined;
  const user = READERS[mechanism](message.toString('utf8'));
  return user && user.length <= MOST_NAME ? user : undefined;
}

/** RFC 4616: [authorization id] NUL user NUL password. A broker takes no other authorization id than the user. */
function readPlain(text: string): PlainLogin | undefined {
  const parts = text.split('\0');
  const [authorizationId, user = '', password = ''] = parts;
  if (parts.length !== 3 || (authorizationId !== '' && authorizationId !== user)) return undefined;
  return { user, password };
}

export interface PlainLogin {
  user: string;
  password: string;
}

/** The whole message of PLAIN; undefined if it is none. */
export function plainIn(message: Buffer): PlainLogin | undefined {
  const login = message.length > MOST_BYTES ? undefined : readPlain(message.toString('utf8'));
  return login && login.user !== '' && login.user.length <= MOST_NAME ? login : undefined;
}

/** RFC 5802: channel binding, [a=authorization id], n=user, r=nonce. */
function readScram(text: string): string | undefined {
  const match = /^n,(?:a=([^,]*))?,n=([^,]+),r=/.exec(text);
  if (!match) return undefined;
  const [, authorizationId, name = ''] = match;
  const user = unescapeName(name);
  if (authorizationId && unescapeName(authorizationId) !== user) return undefined;
  return user;
}

const unescapeName = (name: string) => name.replaceAll('=2C', ',').replaceAll('=3D', '=');

const SEPARATOR = '\u0001';

/** RFC 7628: the bearer token; undefined if there is none. */
export function tokenIn(message: Buffer): string | undefined {
  return message.length > MOST_BYTES ? undefined : bearerIn(message.toString('utf8'));
}

function bearerIn(text: string): string | undefined {
  const fields = text.split(SEPARATOR).slice(1, -2); // behind the head, and before the two that end the message
  return fields.map((field) => /^auth=Bearer ([\w.~+/=-]+)$/i.exec(field)?.[1]).find(Boolean);
}

/** The subject of a token is the user, as brokers have it by default. */
function readToken(text: string): string | undefined {
  const payload = bearerIn(text)?.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown;
    const subject = (claims as { sub?: unknown } | null)?.sub;
    return typeof subject === 'string' ? subject : undefined;
  } catch {
    return undefined; // no token that we can read: the broker will say what it thinks of it
  }
}
