import { setImmediate } from 'node:timers/promises';
import { MalformedMessage } from '../malformed.ts';
import { ATTRIBUTE, HEADER_LENGTH, MAX_DECOMPRESSED, readBatch } from './batch.ts';
import type { RecordBatch, UnreadBatch } from './batch.ts';
import { checksumInTurns } from './checksum.ts';
import { decompressAside } from './compression.ts';

const CHECKSUM_AT = 17;
const ATTRIBUTES_AT = 21;
/** Records that unpack to far more than was sent are an attack. */
const FREE_EXPANSION = 4 * 1024 * 1024;
const MOST_EXPANSION = 128;

/**
 * A batch (magic 2) that is whole, without compression: others get their turns while its checksum is made, and it is unpacked in
 * another thread where that takes long; `owner` is whose turn that is. Throws MalformedMessage.
 */
export async function unpackAside({ magic, bytes }: UnreadBatch, owner: object): Promise<RecordBatch> {
  if (magic < 2) throw new MalformedMessage('records', `format ${magic} cannot be read here`, 0);
  if (bytes.readUInt32BE(CHECKSUM_AT) !== (await checksumInTurns(bytes, () => setImmediate())))
    throw new MalformedMessage('record batch', 'the checksum does not match', CHECKSUM_AT);
  const batch = readBatch(bytes, false);
  if (batch.compression === 'none') return batch;
  const most = Math.min(MAX_DECOMPRESSED, Math.max(FREE_EXPANSION, bytes.length * MOST_EXPANSION));
  const records = await decompressAside(batch.compression, bytes.subarray(HEADER_LENGTH), most, owner);
  const whole = Buffer.concat([bytes.subarray(0, HEADER_LENGTH), records]);
  whole.writeInt16BE(whole.readInt16BE(ATTRIBUTES_AT) & ~ATTRIBUTE.compression, ATTRIBUTES_AT);
  whole.writeInt32BE(whole.length - 12, 8);
  return readBatch(whole, false);
}
