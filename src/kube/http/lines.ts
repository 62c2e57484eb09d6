const NEWLINE = 0x0a;

/** Cuts a stream of bytes into lines. Memory is bounded by one line; a longer one than `maxBytes` is an error. */
export function createLineSplitter(maxBytes: number): (chunk: Uint8Array) => string[] {
  let parts: Uint8Array[] = [];
  let size = 0;

  function take(part: Uint8Array): void {
    size += part.length;
    if (size > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
    parts.push(part);
  }

  return (chunk) => {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, end));
      // Decoded only when whole: a character may be spread over two chunks.
      if (size > 0) lines.push(Buffer.concat(parts, size).toString('utf8'));
      parts = [];
      size = 0;
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
    return lines;
  };
}
