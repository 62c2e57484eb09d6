import { parseAddress } from './address.ts';

/** A client's address in the form the hot path wants: a reused buffer, IPv4 in its first four bytes. */
export interface ClientAddress {
  readonly bytes: Uint8Array;
  length: 4 | 16;
}

export function createClientAddress(): ClientAddress {
  return { bytes: new Uint8Array(16), length: 4 };
}

/** Sets a client address from sixteen bytes; one that was mapped from IPv4 (::ffff:0:0/96) becomes IPv4 again. */
export function setAddress6(client: ClientAddress, source: Uint8Array, at: number): void {
  let mapped = source[at + 10] === 0xff && source[at + 11] === 0xff;
  for (let i = 0; mapped && i < 10; i++) mapped = source[at + i] === 0;
  client.length = mapped ? 4 : 16;
  const from = mapped ? at + 12 : at;
  for (let i = 0; i < client.length; i++) client.bytes[i] = source[from + i]!;
}

/** Sets a client address from text, as node gives it. */
export function setAddressText(client: ClientAddress, text: string): void {
  const zone = text.indexOf('%'); // fe80::1%eth0: the interface is no part of the address
  const bytes = parseAddress(zone < 0 ? text : text.slice(0, zone)) ?? '\0\0\0\0';
  if (bytes.length === 16) {
    setAddress6(
      client,
      Uint8Array.from(bytes, (char) => char.charCodeAt(0)),
      0,
    );
    return;
  }
  client.length = 4;
  for (let i = 0; i < 4; i++) client.bytes[i] = bytes.charCodeAt(i);
}
