/**
 * Google Cloud KMS. An alias is the name of a key in the configured key ring, and the id of a key its whole resource name.
 * Google makes no data keys, so they are made here and sealed there, by the newest version; any version opens.
 *
 * The wrapped data key, in a form of our own since the original has none: a 0, unsigned varint length of the key's resource
 * name, the name, what Google made of it.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { KEY_BYTES } from '../../cipher.ts';
import { BadEnvelope, KmsRefused, UnknownKey } from '../../kms.ts';
import type { Kms, KmsSetting } from '../../kms.ts';
import { ABOUT_KEYS, createHttpClient, failureOf } from '../http/client.ts';
import type { HttpAnswer } from '../http/client.ts';
import { withCredential } from '../http/credential.ts';
import { filesIn, requireIdentity } from '../http/settings.ts';
import { readNamedEdek, writeNamedEdek } from '../edek.ts';
import type { GcpConfig } from './config.ts';
import { gcpIdentity } from './token.ts';

const EDEK_VERSION = 0;
const KEY_NAME = /^[\w-]{1,63}$/;
/** What becomes part of an address. */
const RESOURCE = /^projects\/[a-z0-9:.-]+\/locations\/[a-z0-9-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]{1,63}$/;

const keySchema = z.object({ name: z.string().regex(RESOURCE) });
const sealedSchema = z.object({ ciphertext: z.base64() });
const openedSchema = z.object({ plaintext: z.base64() });

/** Makes the key service of a configuration. */
export function gcpKms(config: GcpConfig, setting: KmsSetting): Kms {
  const { outbound, timeoutMs } = setting;
  const { endpointUrl, keyRing } = config;
  for (const file of filesIn(config.tls)) requireIdentity(outbound, `the file ${file}`, [endpointUrl]);
  const identity = gcpIdentity(config, setting);
  const http = createHttpClient({ outbound, tls: config.tls, timeoutMs });

  async function ask(path: string, body?: object): Promise<HttpAnswer> {
    const answer = await withCredential(
      identity.source,
      (token) =>
        http.send({
          method: body ? 'POST' : 'GET',
          url: new URL(`v1/${path}`, endpointUrl),
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        }),
      ({ status }) => status === 401,
    );
    if (!ABOUT_KEYS.has(answer.status)) throw failureOf(answer, 'Google Cloud KMS');
    return answer;
  }

  return {
    async resolveAlias(alias) {
      if (!KEY_NAME.test(alias)) return undefined;
      const answer = await ask(`${keyRing}/cryptoKeys/${alias}`);
      return answer.status === 200 ? answer.json(keySchema).name : undefined;
    },
    async generateDek(kekId) {
      if (!RESOURCE.test(kekId)) throw new UnknownKey(`the key ${kekId}`);
      const dek = randomBytes(KEY_BYTES);
      const answer = await ask(`${kekId}:encrypt`, { plaintext: dek.toString('base64') });
      if (answer.status === 404) throw new UnknownKey(`the key ${kekId}`);
      if (answer.status !== 200) throw new KmsRefused('Google does not seal with this key');
      const wrapped = Buffer.from(answer.json(sealedSchema).ciphertext, 'base64');
      return { dek, edek: writeNamedEdek({ kekId, wrapped }, EDEK_VERSION) };
    },
    kekOf: (edek) => readEdek(edek).kekId,
    async decryptEdek(edek) {
      const { kekId, wrapped } = readEdek(edek);
      const answer = await ask(`${kekId}:decrypt`, { ciphertext: wrapped.toString('base64') });
      if (answer.status === 404) throw new UnknownKey(`the key ${kekId}`);
      if (answer.status !== 200) throw new BadEnvelope('Google does not unwrap its data key');
      return Buffer.from(answer.json(openedSchema).plaintext, 'base64');
    },
    close() {
      identity.close();
      http.close();
    },
  };
}

function readEdek(edek: Buffer) {
  const found = readNamedEdek(edek, EDEK_VERSION);
  if (!RESOURCE.test(found.kekId)) throw new BadEnvelope('its data key names no key of Google');
  return found;
}
