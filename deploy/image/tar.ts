/** Writes tar archives: owner and time of every entry are fixed, so that the same entries give the same bytes. */
import { createReadStream } from 'node:fs';
import type { Entry } from './tree.ts';

const BLOCK = 512;
const TYPES = { file: '0', text: '0', link: '2', directory: '5', pax: 'x' } as const;

interface Header {
  path: string;
  type: keyof typeof TYPES;
  mode: number;
  size: number;
  target?: string;
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** Splits a path at a slash so that it fits the 155 + 100 bytes of a header, if it can. */
function split(path: string): { prefix: string; name: string } | undefined {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  return undefined;
}

/** A record `length key=value\n` of an extended header; the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length)
    length = String(length).length + Buffer.byteLength(rest);
  return `${length}${rest}`;
}

/** The header block of an entry, after an extended header where a name is too long for it. */
function header({ path, type, mode, size, target = '' }: Header): Buffer {
  const place = split(path);
  const longTarget = Buffer.byteLength(target) > 100;
  if (!place || longTarget) {
    const records = Buffer.from(paxRecord('path', path) + (longTarget ? paxRecord('linkpath', target) : ''));
    const before = header({ path: 'pax', type: 'pax', mode: 0o644, size: records.length });
    const short = { path: path.slice(-90), type, mode, size, target: target.slice(0, 90) };
    return Buffer.concat([before, records, padding(records.length), header(short)]);
  }
  const block = Buffer.alloc(BLOCK);
  block.write(place.name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108); // owned by root
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136); // from 1970
  block.write(' '.repeat(8), 148);
  block.write(TYPES[type], 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  block.write(place.prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

async function* tarEntry(entry: Entry): AsyncGenerator<Buffer> {
  if (entry.type === 'file') {
    yield header(entry);
    yield* createReadStream(entry.source) as AsyncIterable<Buffer>;
    yield padding(entry.size);
  } else if (entry.type === 'text') {
    const data = Buffer.from(entry.text);
    yield Buffer.concat([header({ ...entry, size: data.length }), data, padding(data.length)]);
  } else if (entry.type === 'directory') {
    yield header({ ...entry, path: `${entry.path}/`, size: 0 });
  } else {
    yield header({ ...entry, size: 0 });
  }
}

/** The bytes of an archive with these entries. */
export async function* tar(entries: readonly Entry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) yield* tarEntry(entry);
  yield Buffer.alloc(2 * BLOCK);
}
