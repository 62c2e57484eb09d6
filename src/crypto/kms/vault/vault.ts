/**
 * The transit engine of HashiCorp Vault, or of OpenBao, which speaks the same. An alias is the name of a key. A key that is
 * rotated keeps its name, and what its older versions have wrapped is still unwrapped.
 *
 * The wrapped data key, as the original has it: unsigned varint length of the key's name, the name, Vault's ciphertext text.
 */
import { z } from 'zod';
import { BadEnvelope, KmsRefused, UnknownKey } from '../../kms.ts';
import type { Kms, KmsSetting } from '../../kms.ts';
import { ABOUT_KEYS, createHttpClient, failureOf } from '../http/client.ts';
import type { HttpAnswer } from '../http/client.ts';
import { withCredential } from '../http/credential.ts';
import { filesIn, requireIdentity } from '../http/settings.ts';
import { readNamedEdek, writeNamedEdek } from '../edek.ts';
import type { VaultConfig } from './config.ts';
import { commonHeaders, vaultToken } from './token.ts';

const dataKeySchema = z.object({
  data: z.object({ plaintext: z.base64(), ciphertext: z.string().startsWith('vault:').max(8192) }),
});
const plaintextSchema = z.object({ data: z.object({ plaintext: z.base64() }) });
const keySchema = z.object({ data: z.object({ name: z.string() }) });
const errorsSchema = z.object({ errors: z.array(z.string()) });

/** What Vault takes for a name. Others exist nowhere, and would lead to other paths. */
const KEY_NAME = /^\w(?:[\w.-]{0,253}\w)?$/;

/** Makes the key service of a configuration. */
export function vaultKms(config: VaultConfig, { outbound, now = Date.now, timeoutMs }: KmsSetting): Kms {
  for (const file of filesOf(config))
    requireIdentity(outbound, `the file ${file}`, [config.vaultTransitEngineUrl]);
  const http = createHttpClient({ outbound, tls: config.tls, timeoutMs });
  const token = vaultToken(config, http, now);
  const base = config.vaultTransitEngineUrl.href.replace(/\/+$/, '');

  async function ask(path: string, name: string, body?: object): Promise<HttpAnswer> {
    const answer = await withCredential(
      token,
      ({ text }) =>
        http.send({
          method: body ? 'POST' : 'GET',
          url: new URL(`${base}/${path}/${name}`),
          headers: { ...commonHeaders(config), 'x-vault-token': text },
          ...(body && { body: JSON.stringify(body) }),
        }),
      ({ status }) => status === 403,
    );
    if (!ABOUT_KEYS.has(answer.status)) throw failureOf(answer, 'Vault');
    return answer;
  }

  return {
    async resolveAlias(alias) {
      if (!KEY_NAME.test(alias)) return undefined;
      const answer = await ask('keys', alias);
      return answer.status === 200 ? answer.json(keySchema).data.name : undefined;
    },
    async generateDek(kekId) {
      if (!KEY_NAME.test(kekId)) throw new UnknownKey(`the key ${kekId}`);
      const answer = await ask('datakey/plaintext', kekId, { bits: 256 });
      if (answer.status !== 200) throw missingOr(answer, kekId, new KmsRefused('Vault makes no data key'));
      const { plaintext, ciphertext } = answer.json(dataKeySchema).data;
      return {
        dek: Buffer.from(plaintext, 'base64'),
        edek: writeNamedEdek({ kekId, wrapped: Buffer.from(ciphertext) }),
      };
    },
    kekOf: (edek) => readEdek(edek).kekId,
    async decryptEdek(edek) {
      const { kekId, wrapped } = readEdek(edek);
      const answer = await ask('decrypt', kekId, { ciphertext: wrapped.toString() });
      if (answer.status !== 200)
        throw missingOr(answer, kekId, new BadEnvelope('Vault does not unwrap its data key'));
      return Buffer.from(answer.json(plaintextSchema).data.plaintext, 'base64');
    },
    close: () => http.close(),
  };
}

/** The files of this process that a configuration names. */
function filesOf({ auth, vaultToken: token, tls }: VaultConfig): string[] {
  const files = filesIn(tls, token);
  if (!auth) return files;
  if ('kubernetes' in auth) return [...files, auth.kubernetes.tokenFile];
  return [...files, ...filesIn('appRole' in auth ? auth.appRole.secretId : auth.jwt.jwt)];
}

function readEdek(edek: Buffer) {
  const found = readNamedEdek(edek);
  if (!KEY_NAME.test(found.kekId)) throw new BadEnvelope('its data key names no key of Vault');
  return found;
}

/** Vault says 400 both for a key that does not exist and for a ciphertext that is wrong. */
function missingOr(answer: HttpAnswer, kekId: string, otherwise: Error): Error {
  const errors = answer.jsonIfAny(errorsSchema)?.errors ?? [];
  const isMissing = answer.status === 404 || errors.some((text) => text.includes('key not found'));
  return isMissing ? new UnknownKey(`the key ${kekId}`) : otherwise;
}
