/**
 * Reads the JSON of a list object by object, while it comes in: a list of a hundred thousand objects is one text of many megabytes, and to parse
 * that at once would keep the event loop for a second.
 */
import { inSlices } from '../../ops/time-slice.ts';
import { localError } from './errors.ts';

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const ITEMS = 'items';

/** Cuts a text into the elements of its top-level `items`, and the rest, with an empty array in their place. */
export interface ListSplitter {
  /** The texts of elements that are whole with this chunk. */
  push(chunk: Uint8Array): string[];
  /** The rest, once all has come. */
  end(): string;
}

/** Elements are objects or arrays: of all else it is not seen where it ends. */
export function createListSplitter(): ListSplitter {
  const rest = createText();
  const element = createText();
  /** How many brackets are open; and how many were where `items` began, 0 outside of it. */
  let depth = 0;
  let base = 0;
  let isString = false;
  let isEscaped = false;
  /** The last text at the top level, and whether it was the key of what comes. */
  let word = '';
  let isItems = false;

  /** Takes a byte outside of texts; says whether it ends an element. */
  function take(byte: number): boolean {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (byte === OPEN_BRACKET && depth === 2 && isItems) base = depth;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      return base > 0 && depth === base;
    } else if (depth === 1 && byte === COLON) isItems = word === ITEMS;
    else if (depth === 1 && byte === COMMA) isItems = false;
    return false;
  }

  function takeString(byte: number): void {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) isString = false;
    if (isString && depth === 1 && word.length <= ITEMS.length) word += String.fromCharCode(byte);
  }

  return {
    push(chunk) {
      const whole: string[] = [];
      let from = 0;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at]!;
        if (isString) {
          takeString(byte);
          continue;
        }
        if (byte === QUOTE) {
          isString = true;
          if (depth === 1) word = '';
          continue;
        }
        const wasInside = base > 0;
        const isEnd = take(byte);
        if (!wasInside && base > 0) {
          rest.add(chunk.subarray(from, at + 1));
          from = at + 1;
        } else if (isEnd) {
          element.add(chunk.subarray(from, at + 1));
          whole.push(element.take());
          from = at + 1;
        } else if (base > 0 && depth === base && byte === COMMA) from = at + 1;
        else if (base > 0 && depth < base) {
          base = 0;
          isItems = false;
          from = at;
        }
      }
      (base > 0 ? element : rest).add(chunk.subarray(from));
      return whole;
    },
    end: () => rest.take(),
  };
}

/** Decoded only when whole: a character may be spread over two chunks. */
function createText() {
  let parts: Uint8Array[] = [];
  return {
    add: (part: Uint8Array) => void parts.push(part),
    take(): string {
      const text = Buffer.concat(parts).toString('utf8');
      parts = [];
      return text;
    },
  };
}

/** Reads the body of a list, in slices; it has at most so many bytes. */
export async function readListBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  const split = createListSplitter();
  const items: unknown[] = [];
  function* parseAll(texts: readonly string[]): Generator<undefined> {
    for (const text of texts) {
      items.push(JSON.parse(text));
      yield;
    }
  }
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop ends the stream.
    if (size > maxBytes) throw localError('TooLarge', `the answer is larger than ${maxBytes} bytes`);
    try {
      await inSlices(parseAll(split.push(chunk)));
    } catch (cause) {
      throw localError('Malformed', 'the answer is not JSON', cause);
    }
  }
  try {
    return { ...(JSON.parse(split.end()) as Record<string, unknown>), items };
  } catch (cause) {
    throw localError('Malformed', 'the answer is not JSON', cause);
  }
}
