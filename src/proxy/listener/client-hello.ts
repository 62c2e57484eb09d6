import { describeBytes } from '../session/request-head.ts';

/** Reads the server name out of a TLS ClientHello (RFC 8446, RFC 6066), before TLS itself gets to see it. */

export type ClientHello =
  | { found: 'more' }
  | { found: 'bad'; why: string }
  | { found: 'hello'; serverName: string };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const RECORD_HEAD = 5;
const MESSAGE_HEAD = 4;
/** With post-quantum key shares a ClientHello has about 2 KiB. */
const LONGEST = 16_384;
/** The smallest fragments that a client can agree upon have 512 bytes (RFC 6066), and most send a single record. */
const MOST_RECORDS = 64;

const MORE: ClientHello = { found: 'more' };
const bad = (why: string): ClientHello => ({ found: 'bad', why });

/**
 * Makes a reader for one connection. It is called with all the bytes so far, each time that there are more of them, and looks at
 * each byte once, however they are cut into packets and records: whoever pays for it has not even said what it wants.
 */
export function clientHelloReader(): (bytes: Buffer) => ClientHello {
  let at = 0;
  let recordEnd = 0;
  let records = 0;
  let filled = 0;
  let message: Buffer = Buffer.alloc(MESSAGE_HEAD);

  /** Takes in the head of the next record: undefined when it is good. */
  function beginRecord(bytes: Buffer): ClientHello | undefined {
    if (at < bytes.length && bytes[at] !== HANDSHAKE)
      return bad(`this is no TLS handshake${at === 0 ? `: ${describeBytes(bytes, 0)}` : ''}`);
    if (bytes.length < at + RECORD_HEAD) return MORE;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0) return bad('an empty TLS record'); // forbidden by RFC 8446, 5.1
    if (++records > MOST_RECORDS) return bad(`a ClientHello in more than ${MOST_RECORDS} TLS records`);
    at += RECORD_HEAD;
    recordEnd = at + length;
    return undefined;
  }

  /** Looks at what there is of the message after each piece of it. */
  function look(): ClientHello | undefined {
    if (message[0] !== CLIENT_HELLO) return bad('this is no ClientHello');
    if (filled < MESSAGE_HEAD) return undefined;
    const length = message.readUIntBE(1, 3);
    if (length > LONGEST) return bad(`a ClientHello of ${length} bytes`);
    if (filled === MESSAGE_HEAD + length) return { found: 'hello', serverName: serverNameOf(message) };
    if (filled === MESSAGE_HEAD) message = Buffer.concat([message], MESSAGE_HEAD + length);
    return undefined;
  }

  return (bytes) => {
    for (;;) {
      const unusable = at === recordEnd ? beginRecord(bytes) : undefined;
      if (unusable) return unusable;
      const end = Math.min(recordEnd, bytes.length, at + message.length - filled);
      if (at === end) return MORE;
      filled += bytes.copy(message, filled, at, end);
      at = end;
      const found = look();
      if (found) return found;
    }
  };
}

/** The name that the client asks for; empty where it sent none. Damaged messages end early, and have none. */
function serverNameOf(message: Buffer): string {
  let at = MESSAGE_HEAD + 2 + 32; // version, random
  /** A number; 0 where the bytes end. */
  const number = (size: number): number => {
    at += size;
    return at <= message.length ? message.readUIntBE(at - size, size) : 0;
  };
  const skip = (lengthSize: number) => {
    const length = number(lengthSize);
    at += length;
  };
  skip(1); // session id
  skip(2); // cipher suites
  skip(1); // compression methods
  const size = number(2);
  for (const end = Math.min(at + size, message.length); at < end;) {
    const type = number(2);
    const length = number(2);
    if (type === SERVER_NAME) return nameIn(message.subarray(at, Math.min(at + length, end)));
    at += length;
  }
  return '';
}

const HOST_NAME = 0;

/** The first entry of the extension: the length of the list, a type, a length, the name. */
function nameIn(extension: Buffer): string {
  if (extension.length < 5 || extension[2] !== HOST_NAME) return '';
  return extension.toString('latin1', 5, 5 + extension.readUInt16BE(3));
}
