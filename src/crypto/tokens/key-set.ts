import { createPublicKey } from 'node:crypto';
import type { KeyObject, JsonWebKeyInput } from 'node:crypto';
import { z } from 'zod';
import type { HttpClient } from '../kms/http/client.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';

/** An unknown key may be a new one, or made up: how often the issuer is asked for that at most. */
const ASK_AGAIN_MS = 10_000;
const MOST_KEYS = 100;

const jwk = z.looseObject({ kty: z.string(), kid: z.string().optional(), use: z.string().optional() });
const schema = z.looseObject({ keys: z.array(jwk) });

/** The public keys of an issuer of tokens (RFC 7517), asked for when they are needed, and kept. */
export interface KeySet {
  /** The keys that a token may be signed by: the one of that id, or all if it says none. */
  keysFor(id: string | undefined): Promise<readonly KeyObject[]>;
}

export interface KeySetOptions {
  url: URL;
  http: Pick<HttpClient, 'send'>;
  refreshMs: number;
  log: Log;
  clock?: () => number;
}

interface Keys {
  id: string | undefined;
  key: KeyObject;
}

export function createKeySet({
  url,
  http,
  refreshMs,
  log,
  clock = () => performance.now(),
}: KeySetOptions): KeySet {
  let keys: readonly Keys[] = [];
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;

  const ask = async () => {
    try {
      const answer = await http.send({ method: 'GET', url, headers: { accept: 'application/json' } });
      if (answer.status !== 200) throw new Error(`${url.host} answered ${answer.status}`);
      keys = answer
        .json(schema)
        .keys.filter(({ use }) => use !== 'enc')
        .slice(0, MOST_KEYS)
        .flatMap(importKey);
    } catch (error) {
      // What was known stays: an issuer that is away must not keep out those whose keys are here.
      log.error({ issuer: url.host, why: messageOf(error) }, 'keys of the issuer of tokens cannot be read');
    }
  };
  /** One request for all who wait. */
  const refresh = () => {
    askedAt = clock();
    asking ??= ask().finally(() => (asking = undefined));
    return asking;
  };
  const find = (id: string | undefined) =>
    keys.filter((each) => id === undefined || each.id === id).map(({ key }) => key);

  return {
    async keysFor(id) {
      const found = find(id);
      const age = clock() - askedAt;
      if (found.length > 0) {
        if (age > refreshMs) void refresh();
        return found;
      }
      if (asking || age > ASK_AGAIN_MS) await (asking ?? refresh());
      return find(id);
    },
  };
}

function importKey(key: z.output<typeof jwk>): Keys[] {
  try {
    return [{ id: key.kid, key: createPublicKey({ key: key as JsonWebKeyInput['key'], format: 'jwk' }) }];
  } catch {
    return []; // of a kind that is not for signatures, or that nobody knows yet
  }
}
