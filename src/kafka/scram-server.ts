import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '../ops/bounded-map.ts';
import { saltPassword } from './scram.ts';
import type { ScramMechanism } from './scram.ts';
import { userIn } from './sasl.ts';

/** SCRAM (RFC 5802) as Kafka uses it, from the server's side. */

/** As brokers have it by default, and clients want it at least. */
const ITERATIONS = 4096;
const HASHES = { 'SCRAM-SHA-256': 'sha256', 'SCRAM-SHA-512': 'sha512' } as const;
/** Users whose keys are remembered, so that only a first login takes a while. */
const MOST_KEYS = 10_000;
const LONGEST_MESSAGE = 4096;

export interface ScramServer {
  start(): ScramLogin;
}

/** One login, seen from the server. */
export interface ScramLogin {
  /** The server's first message; undefined if the client's is none of SCRAM. */
  first(message: string): Promise<string | undefined>;
  /** The server's second message and whose login it was; undefined if the client has not proven it. */
  final(message: string): { user: string; message: string } | undefined;
}

interface Keys {
  stored: Buffer;
  server: Buffer;
}

/**
 * Takes logins of users by their passwords. One who is not there is asked for a proof all the same, with a salt of their
 * own that stays the same: nobody learns by trying who there is.
 */
export function scramServer(
  mechanism: ScramMechanism,
  passwordOf: (user: string) => string | undefined,
): ScramServer {
  const hash = HASHES[mechanism];
  const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest();
  const secret = randomBytes(32);
  const saltOf = (user: string) => hmac(secret, user).subarray(0, 24);
  const known = new BoundedMap<string, Promise<Keys>>(MOST_KEYS);
  /** Of nobody: one for all names that are not there, so that guessing at names costs us nothing. */
  let nobody: Promise<Keys> | undefined;
  const derive = async (password: string, salt: Buffer): Promise<Keys> => {
    const salted = await saltPassword(mechanism, password, salt, ITERATIONS);
    const stored = createHash(hash).update(hmac(salted, 'Client Key')).digest();
    return { stored, server: hmac(salted, 'Server Key') };
  };
  const keysOf = (user: string): Promise<Keys> => {
    const password = passwordOf(user);
    if (password === undefined) return (nobody ??= derive(secret.toString('hex'), secret));
    const keys = known.get(user) ?? derive(password, saltOf(user));
    known.set(user, keys);
    return keys;
  };

  return {
    start() {
      let exchange: { user: string; nonce: string; messages: string; keys: Keys } | undefined;
      return {
        async first(message) {
          const user = message.length > LONGEST_MESSAGE ? undefined : userIn(mechanism, Buffer.from(message));
          const bare = /^n,(?:a=[^,]*)?,(n=[^,]+,r=([\x21-\x2b\x2d-\x7e]+))/.exec(message);
          if (user === undefined || !bare) return undefined;
          const nonce = bare[2]! + randomBytes(18).toString('base64');
          const answer = `r=${nonce},s=${saltOf(user).toString('base64')},i=${ITERATIONS}`;
          // With what follows the nonce (extensions), as it was sent: both ends sign it.
          const own = message.slice(message.indexOf(bare[1]!));
          exchange = { user, nonce, messages: `${own},${answer}`, keys: await keysOf(user) };
          return answer;
        },
        final(message) {
          const match =
            message.length <= LONGEST_MESSAGE && /^(c=([^,]+),r=([^,]+)[^]*?),p=([^,]+)$/.exec(message);
          if (!exchange || !match) return undefined;
          const [, withoutProof = '', binding = '', nonce, proof = ''] = match;
          const { user, keys } = exchange;
          const signed = `${exchange.messages},${withoutProof}`;
          const header = Buffer.from(binding, 'base64').toString('utf8');
          if (nonce !== exchange.nonce || !/^n,(a=[^,]*)?,$/.test(header)) return undefined;
          const given = Buffer.from(proof, 'base64');
          const signature = hmac(keys.stored, signed);
          if (given.length !== signature.length) return undefined;
          const clientKey = Buffer.from(given.map((byte, i) => byte ^ signature[i]!));
          const stored = createHash(hash).update(clientKey).digest();
          if (!timingSafeEqual(stored, keys.stored) || passwordOf(user) === undefined) return undefined;
          return { user, message: `v=${hmac(keys.server, signed).toString('base64')}` };
        },
      };
    },
  };
}
