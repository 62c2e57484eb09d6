/** Reads the server name out of a TLS ClientHello (RFC 8446, RFC 6066), before TLS itself gets to see it. */

export type ClientHello =
  | { found: 'more' }
  | { found: 'bad'; why: string }
  | { found: 'hello'; serverName: string };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
/** With post-quantum key shares a ClientHello has about 2 KiB. */
const LONGEST = 65_536;

/** Says nothing where the bytes end too early. */
class Cursor {
  at = 0;
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  number(size: number): number {
    if (this.at + size > this.bytes.length) return 0;
    this.at += size;
    return this.bytes.readUIntBE(this.at - size, size);
  }

  /** A part that begins with its length. */
  part(lengthSize: number): Cursor {
    const length = this.number(lengthSize);
    const part = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    return new Cursor(part);
  }

  get more(): boolean {
    return this.at < this.bytes.length;
  }
}

/** The name is empty where the client sent none. */
export function parseClientHello(bytes: Buffer): ClientHello {
  const message = handshakeMessage(bytes);
  if (!Buffer.isBuffer(message)) return message;
  const hello = new Cursor(message);
  hello.at = 2 + 32; // version, random
  hello.part(1); // session id
  hello.part(2); // cipher suites
  hello.part(1); // compression methods
  for (const extensions = hello.part(2); extensions.more;) {
    const type = extensions.number(2);
    const content = extensions.part(2);
    if (type !== SERVER_NAME) continue;
    const entry = content.part(2);
    return {
      found: 'hello',
      serverName: entry.number(1) === 0 ? entry.part(2).bytes.toString('latin1') : '',
    };
  }
  return { found: 'hello', serverName: '' };
}

/** Puts the first handshake message together from the records that it is cut into. */
function handshakeMessage(bytes: Buffer): Buffer | Exclude<ClientHello, { found: 'hello' }> {
  let message: Buffer = Buffer.alloc(0);
  for (let at = 0; ;) {
    if (bytes.length > LONGEST) return { found: 'bad', why: 'a ClientHello that does not end' };
    if (bytes.length > at && bytes[at] !== HANDSHAKE)
      return { found: 'bad', why: 'this is no TLS handshake' };
    if (bytes.length < at + 5) return { found: 'more' };
    const length = bytes.readUInt16BE(at + 3);
    if (bytes.length < at + 5 + length) return { found: 'more' };
    message = Buffer.concat([message, bytes.subarray(at + 5, at + 5 + length)]);
    at += 5 + length;
    if (message.length > 0 && message[0] !== CLIENT_HELLO)
      return { found: 'bad', why: 'this is no ClientHello' };
    if (message.length >= 4 && message.length >= 4 + message.readUIntBE(1, 3))
      return message.subarray(4, 4 + message.readUIntBE(1, 3));
  }
}
