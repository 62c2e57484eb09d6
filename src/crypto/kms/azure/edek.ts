/**
 * A data key wrapped by Azure, as the original has it:
 *
 *   1 byte   0, or 1 where the version of the key is not 32 hexadecimal digits
 *   1 byte length and text: name of the key; the same: name of the vault
 *   1 byte   type of the key: 0 RSA, 1 RSA in an HSM, 2 symmetric, 3 symmetric in an HSM
 *   16 bytes version of the key; or 1 byte length and text
 *   rest     what Azure made of it
 */
import { EnvelopeReader } from '../../envelope-reader.ts';
import { VAULT_NAME } from './config.ts';

/** By their numbers. */
export const KEY_TYPES = ['RSA', 'RSA-HSM', 'oct', 'oct-HSM'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

export interface AzureEdek {
  keyName: string;
  vaultName: string;
  keyType: KeyType;
  keyVersion: string;
  wrapped: Buffer;
}

export const KEY_NAME = /^[a-zA-Z0-9-]{1,127}$/;
const KEY_VERSION = /^[a-zA-Z0-9-]{1,127}$/;
const VERSION_BYTES = 16;

const sized = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);

export function writeAzureEdek({ keyName, vaultName, keyType, keyVersion, wrapped }: AzureEdek): Buffer {
  const isHex = /^[0-9a-f]{32}$/.test(keyVersion);
  return Buffer.concat([
    Buffer.from([isHex ? 0 : 1]),
    sized(keyName),
    sized(vaultName),
    Buffer.from([KEY_TYPES.indexOf(keyType)]),
    isHex ? Buffer.from(keyVersion, 'hex') : sized(keyVersion),
    wrapped,
  ]);
}

/** Reads it; throws BadEnvelope. What it says becomes part of an address, so it is taken for names only if it can be one. */
export function readAzureEdek(edek: Buffer): AzureEdek {
  const reader = new EnvelopeReader(edek, 0, edek.length);
  const [format] = reader.view(1);
  if (format !== 0 && format !== 1) reader.fail('its data key has a version that nobody here knows');
  const text = () => reader.view(reader.view(1)[0]!).toString('latin1');
  const [keyName, vaultName] = [text(), text()];
  const keyType = KEY_TYPES[reader.view(1)[0]!];
  const keyVersion = format === 0 ? reader.view(VERSION_BYTES).toString('hex') : text();
  const wrapped = Buffer.from(reader.view(edek.length - reader.at));
  const areNames = KEY_NAME.test(keyName) && VAULT_NAME.test(vaultName) && KEY_VERSION.test(keyVersion);
  if (!areNames || keyType === undefined || wrapped.length === 0)
    return reader.fail('its data key names no key of Azure');
  return { keyName, vaultName, keyType, keyVersion, wrapped };
}
