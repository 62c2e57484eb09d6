import { ENCRYPTION_HEADER, ENCRYPTION_VERSION } from '../../../crypto/wrapper.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { writeVarint } from '../../../ops/varint.ts';
import { recordReader, skipField } from './record.ts';
import type { RecordLayout } from './record.ts';

const NAME = Buffer.from(ENCRYPTION_HEADER);

/** The header that marks a sealed record, as it stands before the record's own. */
export const MARKER: Buffer = (() => {
  const header = Buffer.alloc(1 + NAME.length + 2);
  const at = writeVarint(header, 0, NAME.length);
  NAME.copy(header, at);
  header[writeVarint(header, at + NAME.length, 1)] = ENCRYPTION_VERSION;
  return header;
})();

/**
 * Whether the record is sealed: undefined if it is not, else how many bytes of headers are to be dropped when it is
 * opened, which is the mark itself where it comes first and nothing where it does not.
 * A mark of an unknown version is an error: passing ciphertext on as if it were the value would be worse.
 */
export function findMarker(bytes: Buffer, layout: RecordLayout): number | undefined {
  if (layout.headerCount === 0) return undefined;
  if (startsWith(bytes, layout.headersStart, layout.end, MARKER)) return MARKER.length;
  const reader = recordReader(bytes, layout.headersStart);
  for (let i = 0; i < layout.headerCount; i++) {
    const keyLength = skipField(reader, layout.end);
    const isMarker = keyLength === NAME.length && startsWith(bytes, reader.at - keyLength, reader.at, NAME);
    const valueLength = skipField(reader, layout.end);
    if (!isMarker) continue;
    const version = valueLength === 1 ? bytes[reader.at - 1] : undefined;
    if (version === ENCRYPTION_VERSION) return i === 0 ? reader.at - layout.headersStart : 0;
    throw new BadEnvelope(
      `its version is ${version ?? 'missing'}, and only ${ENCRYPTION_VERSION} is supported`,
    );
  }
  return undefined;
}

function startsWith(bytes: Buffer, at: number, end: number, expected: Buffer): boolean {
  if (end - at < expected.length) return false;
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}
