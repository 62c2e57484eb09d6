import { unsignedVarintSize, writeUnsignedVarint } from '../../ops/varint.ts';
import { EnvelopeReader } from '../envelope-reader.ts';

/** A wrapped data key of the form in which most services have it: the length of the key's id, the id, what the service made. */
export interface NamedEdek {
  kekId: string;
  wrapped: Buffer;
}

/** Longer than the id of a key in any service. */
const MAX_ID_BYTES = 1024;

/** Writes it, after a version where the service's format has one. */
export function writeNamedEdek({ kekId, wrapped }: NamedEdek, version?: number): Buffer {
  const id = Buffer.from(kekId);
  const length = Buffer.alloc(unsignedVarintSize(id.length));
  writeUnsignedVarint(length, 0, id.length);
  return Buffer.concat([Buffer.from(version === undefined ? [] : [version]), length, id, wrapped]);
}

/** Reads it; throws BadEnvelope. */
export function readNamedEdek(edek: Buffer, version?: number): NamedEdek {
  const reader = new EnvelopeReader(edek, 0, edek.length);
  if (version !== undefined && reader.view(1)[0] !== version)
    reader.fail('its data key has a version that nobody here knows');
  const length = reader.unsignedVarint();
  if (length === 0 || length > MAX_ID_BYTES) reader.fail('its data key names no key');
  const kekId = reader.view(length).toString();
  const wrapped = Buffer.from(reader.view(edek.length - reader.at));
  if (wrapped.length === 0) reader.fail('its data key is cut off');
  return { kekId, wrapped };
}
