/**
 * Azure Key Vault. An alias is the name of a key in the vault, and the id of a key is `vault/key`: all its versions are one
 * key to us. Azure makes no data keys, so they are made here and wrapped there, by the newest version.
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
import { VAULT_NAME } from './config.ts';
import type { AzureConfig } from './config.ts';
import { KEY_NAME, KEY_TYPES, readAzureEdek, writeAzureEdek } from './edek.ts';
import type { KeyType } from './edek.ts';
import { azureIdentity } from './token.ts';

const API_VERSION = '7.4';
const ALGORITHMS: Record<KeyType, string> = {
  RSA: 'RSA-OAEP-256',
  'RSA-HSM': 'RSA-OAEP-256',
  oct: 'A256GCM',
  'oct-HSM': 'A256GCM',
};

const keySchema = z.object({ key: z.object({ kid: z.string().max(2048), kty: z.enum(KEY_TYPES) }) });
const wrappedSchema = z.object({ value: z.base64url() });

/** Makes the key service of a configuration. */
export function azureKms(config: AzureConfig, setting: KmsSetting): Kms {
  const { outbound, timeoutMs } = setting;
  const { keyVaultScheme: scheme, keyVaultHost: host, keyVaultPort: port } = config;
  const vaultUrl = (name: string) =>
    new URL(`${scheme}://${name}.${host}${port === undefined ? '' : `:${port}`}/`);
  const own = vaultUrl(config.keyVaultName);
  for (const file of filesIn(config.tls)) requireIdentity(outbound, `the file ${file}`, [own]);
  const identity = azureIdentity(config, own, setting);
  const http = createHttpClient({ outbound, tls: config.tls, timeoutMs });

  async function ask(vaultName: string, path: string, body?: object): Promise<HttpAnswer> {
    const url = new URL(`keys/${path}?api-version=${API_VERSION}`, vaultUrl(vaultName));
    const answer = await withCredential(
      identity.source,
      (token) =>
        http.send({
          method: body ? 'POST' : 'GET',
          url,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        }),
      ({ status }) => status === 401,
    );
    if (!ABOUT_KEYS.has(answer.status)) throw failureOf(answer, 'Azure Key Vault');
    return answer;
  }

  async function newestVersion(vaultName: string, keyName: string) {
    const answer = await ask(vaultName, keyName);
    if (answer.status !== 200) return undefined;
    const { kid, kty: keyType } = answer.json(keySchema).key;
    return { keyType, keyVersion: kid.split('/').at(-1)! };
  }

  return {
    async resolveAlias(alias) {
      if (!KEY_NAME.test(alias)) return undefined;
      return (await newestVersion(config.keyVaultName, alias)) && `${config.keyVaultName}/${alias}`;
    },
    async generateDek(kekId) {
      const [vaultName = '', keyName = ''] = kekId.split('/');
      const isId = VAULT_NAME.test(vaultName) && KEY_NAME.test(keyName);
      const newest = isId ? await newestVersion(vaultName, keyName) : undefined;
      if (!newest) throw new UnknownKey(`the key ${kekId}`);
      const { keyType, keyVersion } = newest;
      const dek = randomBytes(KEY_BYTES);
      const body = { alg: ALGORITHMS[keyType], value: dek.toString('base64url') };
      const answer = await ask(vaultName, `${keyName}/${keyVersion}/wrapkey`, body);
      if (answer.status === 404) throw new UnknownKey(`the key ${kekId}`);
      if (answer.status !== 200) throw new KmsRefused('Azure does not wrap with this key');
      const wrapped = Buffer.from(answer.json(wrappedSchema).value, 'base64url');
      return { dek, edek: writeAzureEdek({ keyName, vaultName, keyType, keyVersion, wrapped }) };
    },
    kekOf(edek) {
      const { vaultName, keyName } = readAzureEdek(edek);
      return `${vaultName}/${keyName}`;
    },
    async decryptEdek(edek) {
      const { vaultName, keyName, keyType, keyVersion, wrapped } = readAzureEdek(edek);
      const body = { alg: ALGORITHMS[keyType], value: wrapped.toString('base64url') };
      const answer = await ask(vaultName, `${keyName}/${keyVersion}/unwrapkey`, body);
      if (answer.status === 404) throw new UnknownKey(`the key ${vaultName}/${keyName}`);
      if (answer.status !== 200) throw new BadEnvelope('Azure does not unwrap its data key');
      return Buffer.from(answer.json(wrappedSchema).value, 'base64url');
    },
    close() {
      identity.close();
      http.close();
    },
  };
}
