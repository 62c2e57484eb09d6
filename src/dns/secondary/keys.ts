import { readFileSync, statSync } from 'node:fs';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { formatName } from '../wire/name.ts';
import type { Name } from '../wire/name.ts';
import type { TsigAlgorithm, TsigKey } from '../wire/tsig.ts';

/** The keys of a configuration, and where it refers to them. */
export interface KeySettings {
  tsigKeys: readonly { name: Name; algorithm: TsigAlgorithm; secretFile: string }[];
  transferKeys: readonly Name[];
  notify: readonly { address: { address: string; port: number }; key?: Name | undefined }[];
}

/** Shorter secrets can be guessed, and no longer ones are of use. */
const MIN_SECRET = 16;
const MAX_FILE = 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reads the TSIG keys of a configuration, and checks that those exist which it refers to. What is in the files is never quoted. */
export function loadKeys({ tsigKeys, transferKeys, notify }: KeySettings): TsigKey[] {
  const keys = tsigKeys.map(({ name, algorithm, secretFile }) => ({
    name,
    algorithm,
    secret: readSecret(secretFile),
  }));
  for (const name of [...transferKeys, ...notify.flatMap(({ key }) => key ?? [])]) keyNamed(keys, name);
  return keys;
}

/** The key with a name, which must be there. */
export function keyNamed(keys: readonly TsigKey[], name: Name): TsigKey {
  const key = keys.find((each) => each.name === name);
  if (!key) throw new IsthmusError('CONFIG_INVALID', `there is no key ${formatName(name)} in tsigKeys`);
  return key;
}

function readSecret(file: string): Uint8Array {
  let text: string;
  try {
    if (statSync(file).size > MAX_FILE) throw new Error(`it has more than ${MAX_FILE} bytes`);
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)})`, { cause });
  }
  const secret = Buffer.from(text, 'base64');
  if (!BASE64.test(text) || secret.length < MIN_SECRET)
    throw new IsthmusError(
      'CONFIG_INVALID',
      `${file} is not a secret of ${MIN_SECRET} bytes or more in base64`,
    );
  return Uint8Array.from(secret);
}
