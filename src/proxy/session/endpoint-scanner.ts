import { apiOf, isSupported } from '../../kafka/apis.ts';
import { FIXED_SIZES } from '../../kafka/compile.ts';
import { MalformedMessage } from '../../kafka/malformed.ts';
import { includes, schemaOf } from '../../kafka/schema.ts';
import type { Field } from '../../kafka/schema.ts';
import type { Cell } from '../../ops/metrics.ts';
import type { FrameScanner } from './frame-stream.ts';

/**
 * Finds the node endpoints in responses that can be large (Fetch, ShareFetch) or frequent (Produce) without decoding
 * them: skips everything else as it streams by, in chunks of any size. They come last in the message, and only
 * when a partition's leader has moved (KIP-951).
 *
 * A response's layout becomes a flat program of pairs, operation and argument. All versions that have endpoints have
 * compact types only, so everything of variable length begins with an unsigned varint.
 */

const SKIP = 0; // argument: bytes
const BLOB = 1; // a string, bytes or records: a length, and as many bytes less one
const ARRAY = 2; // argument: where to go on if it is empty
const REPEAT = 3; // argument: where an element begins
const TAGS = 4;
const ENDPOINTS = 5; // a plain array
const ENDPOINTS_TAG = 6; // argument: the tag that the endpoints have among the last tagged fields

/** A tag that no client knows: it skips the field, and asks for metadata instead. */
const UNUSED_TAG = 100;

type Program = readonly number[];
const programs: (Program | undefined)[][] = [];

/** The program for responses of an API and version; empty where they have no node endpoints. */
export function scanProgram(apiKey: number, version: number): Program {
  const known = (programs[apiKey] ??= []);
  return (known[version] ??= compile(apiKey, version));
}

function compile(apiKey: number, version: number): Program {
  const api = isSupported(apiKey, version) ? apiOf(apiKey) : undefined;
  const fields = api ? schemaOf(`${api.name}Response`).fields : [];
  const endpoints = fields.find(
    ({ name, versions }) => name === 'nodeEndpoints' && includes(versions, version),
  );
  if (!endpoints) return [];
  const program: number[] = [TAGS, 0]; // of the header
  for (const field of fields) if (field !== endpoints) addField(program, field, version);
  if (endpoints.tag === undefined) program.push(ENDPOINTS, 0);
  else program.push(ENDPOINTS_TAG, endpoints.tag);
  return program;
}

function addField(program: number[], field: Field, version: number): void {
  if (field.tag !== undefined || !includes(field.versions, version)) return;
  if (!field.array) return addValue(program, field, version);
  program.push(ARRAY, 0);
  const start = program.length;
  addValue(program, field, version);
  program.push(REPEAT, start);
  program[start - 1] = program.length;
}

function addValue(program: number[], field: Field, version: number): void {
  const size = FIXED_SIZES[field.type];
  if (field.fields) {
    for (const inner of field.fields) addField(program, inner, version);
    program.push(TAGS, 0);
  } else if (size === undefined) {
    program.push(BLOB, 0);
  } else if (program.at(-2) === SKIP) {
    program[program.length - 1]! += size;
  } else {
    program.push(SKIP, size);
  }
}

/** Scans one response after another, each after a `begin`. */
export class EndpointScanner implements FrameScanner {
  readonly #neutralised: Cell;
  #program: Program = [];
  #step = 0;
  #skip = 0;
  /** Elements left of each open array, the innermost last. */
  readonly #open: number[] = [];
  /** The varint that is being read. */
  #value = 0;
  #shift = 0;
  /** Within tagged fields: how many are left (-1 is "not counted yet"), and the tag whose size comes next. */
  #tagsLeft = -1;
  #tag = -1;
  /** Bytes to put over those that come by next. */
  #patch: Buffer | undefined;
  #patched = 0;
  /** What is skipped is overwritten: it is what was hidden. */
  #wiping = false;

  /** `neutralised` counts the responses whose endpoints were hidden. */
  constructor(neutralised: Cell) {
    this.#neutralised = neutralised;
  }

  /** The bytes that follow are a response of this program, from behind its correlation id on. */
  begin(program: Program): this {
    this.#program = program;
    this.#step = this.#skip = this.#value = this.#shift = this.#patched = 0;
    this.#open.length = 0;
    this.#tagsLeft = this.#tag = -1;
    this.#patch = undefined;
    this.#wiping = false;
    return this;
  }

  feed(chunk: Buffer, at: number, end: number): number {
    if (this.#patch) at = this.#overwrite(chunk, at, end);
    while (at < end && (this.#skip > 0 || this.#step < this.#program.length)) {
      if (this.#skip > 0) {
        at = this.#skipTo(chunk, at, Math.min(at + this.#skip, end));
        continue;
      }
      const operation = this.#program[this.#step]!;
      if (operation === SKIP) {
        this.#skip = this.#program[this.#step + 1]!;
        this.#step += 2;
      } else if (operation === REPEAT) {
        this.#repeat();
      } else {
        const byte = chunk[at++]!;
        this.#value |= (byte & 0x7f) << this.#shift;
        if (byte >= 0x80) {
          this.#shift += 7;
          if (this.#shift > 28) throw new MalformedMessage('response', 'a varint longer than 5 bytes', at);
          continue;
        }
        const value = this.#value >>> 0;
        this.#value = this.#shift = 0;
        if (this.#take(operation, value)) return at - 1;
      }
    }
    return -1;
  }

  #skipTo(chunk: Buffer, at: number, end: number): number {
    if (this.#wiping) chunk.fill(0, at, end);
    this.#skip -= end - at;
    if (this.#skip === 0) this.#wiping = false;
    return end;
  }

  #repeat(): void {
    const open = this.#open;
    if (--open[open.length - 1]! > 0) {
      this.#step = this.#program[this.#step + 1]!;
    } else {
      open.pop();
      this.#step += 2;
    }
  }

  /** Takes the varint that an operation begins with; true where it is the endpoints. */
  #take(operation: number, value: number): boolean {
    const argument = this.#program[this.#step + 1]!;
    switch (operation) {
      case BLOB:
        this.#skip = value > 0 ? value - 1 : 0;
        this.#step += 2;
        return false;
      case ARRAY:
        if (value > 1) this.#open.push(value - 1);
        this.#step = value > 1 ? this.#step + 2 : argument;
        return false;
      case ENDPOINTS:
        if (value > 0x7f) throw new MalformedMessage('response', `${value} node endpoints`, 0);
        this.#step += 2;
        return value > 1;
      default:
        return this.#takeOfTags(operation === ENDPOINTS_TAG ? argument : -1, value);
    }
  }

  #takeOfTags(wanted: number, value: number): boolean {
    if (this.#tagsLeft < 0) {
      this.#tagsLeft = value;
    } else if (this.#tag < 0) {
      this.#tag = value;
      if (value === wanted) return true;
    } else {
      this.#skip = value;
      this.#tag = -1;
      this.#tagsLeft -= 1;
    }
    if (this.#tagsLeft === 0) {
      this.#tagsLeft = -1;
      this.#step += 2;
    }
    return false;
  }

  /**
   * Takes the endpoints that were found at `at` out in place, when the frame's head has been sent already and its length
   * cannot change any more. As a tagged field they get another tag; as an array they become an empty one, and their
   * bytes the content of an unknown tagged field. That content becomes zeros. `left` is what the frame has from `at` on.
   */
  neutralise(chunk: Buffer, at: number, end: number, left: number): void {
    const tagged = this.#program.at(-2) === ENDPOINTS_TAG;
    const patch = Buffer.from(tagged ? [UNUSED_TAG] : [1, 1, UNUSED_TAG, ...sizeBytes(left - 3)]);
    this.#patch = patch;
    this.#patched = 0;
    this.#wiping = true;
    if (!tagged) {
      this.#step = this.#program.length;
      this.#skip = left - patch.length;
    }
    this.#neutralised.value += 1;
    const next = this.feed(chunk, at, end);
    if (next >= 0) this.neutralise(chunk, next, end, left - (next - at)); // no honest broker sends them twice
  }

  #overwrite(chunk: Buffer, at: number, end: number): number {
    while (at < end && this.#patched < this.#patch!.length) chunk[at++] = this.#patch![this.#patched++]!;
    if (this.#patched === this.#patch!.length) this.#patch = undefined;
    return at;
  }
}

/** The varint that says how much follows it, if `room` bytes are there for both. */
function sizeBytes(room: number): number[] {
  if (room - 1 < 0x80) return [room - 1];
  if (room - 2 < 0x4000) return [((room - 2) & 0x7f) | 0x80, (room - 2) >> 7];
  return [((room - 3) & 0x7f) | 0x80, (((room - 3) >> 7) & 0x7f) | 0x80, (room - 3) >> 14];
}
