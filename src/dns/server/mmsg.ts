import { isIPv6 } from 'node:net';
import { endianness } from 'node:os';
import { parseAddress } from '../wire/address.ts';
import { MAX_QUERY } from '../wire/constants.ts';
import type { Endpoint } from './udp-portable.ts';

/**
 * recvmmsg and sendmmsg through node:ffi: one system call for up to BATCH datagrams. Linux on a 64-bit little-endian
 * machine only; the layouts below are those of glibc and musl there.
 *   mmsghdr 64: name 8, namelen 4, pad 4, iov 8, iovlen 8, control 8, controllen 8, flags 4, pad 4, len 4, pad 4
 *   iovec 16: base 8, len 8        sockaddr_in6 28: family 2, port 2, flow 4, address 16, scope 4
 *   control: len 8, level 4, type 4, then in_pktinfo (interface 4, source 4, destination 4)
 *            or in6_pktinfo (destination 16, interface 4)
 */
export const BATCH = 64;
export const SOCKADDR = 32;
export const CONTROL = 64;

/** A stride that is no power of two keeps the slots of a batch from sharing the same cache lines. */
const SLOT_PADDING = 64;
const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
const OPTION = {
  sndbuf: 7,
  rcvbuf: 8,
  reuseport: 15,
  rcvtimeo: 20,
  sndtimeo: 21,
  sndbufforce: 32,
  rcvbufforce: 33,
};
const IP_PKTINFO = 8;
const IPV6_V6ONLY = 26;
const IPV6_RECVPKTINFO = 49;
const SOCKET_BUFFER = 4 << 20;

export const MSG_DONTWAIT = 0x40;
export const MSG_WAITFORONE = 0x10000;
export const MSG_TRUNC = 0x20;
export const EINTR = 4;
export const EAGAIN = 11;

const SIGNATURES = {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  bind: { arguments: ['i32', 'u64', 'u32'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'u64', 'u32'], return: 'i32' },
  poll: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
  close: { arguments: ['i32'], return: 'i32' },
  recvmmsg: { arguments: ['i32', 'u64', 'u32', 'i32', 'u64'], return: 'i32' },
  sendmmsg: { arguments: ['i32', 'u64', 'u32', 'i32'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
} as const;

/** The system calls, and what is needed to give them memory. */
export interface SystemCalls {
  socket(family: number, type: number, protocol: number): number;
  bind(fd: number, address: bigint, length: number): number;
  setsockopt(fd: number, level: number, option: number, value: bigint, length: number): number;
  poll(fds: bigint, count: bigint, timeoutMs: number): number;
  close(fd: number): number;
  recvmmsg(fd: number, messages: bigint, count: number, flags: number, timeout: bigint): number;
  sendmmsg(fd: number, messages: bigint, count: number, flags: number): number;
  pointer(memory: Uint8Array): bigint;
  errno(): number;
}

/** The system calls, or undefined where this runtime or machine does not offer them. */
export async function loadSystemCalls(): Promise<SystemCalls | undefined> {
  const known =
    process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && endianness() === 'LE';
  if (!known) return undefined;
  try {
    const ffi = await import('node:ffi');
    const { functions } = ffi.dlopen(null, SIGNATURES);
    const { __errno_location: errnoLocation, ...calls } = functions;
    const errno = errnoLocation();
    return {
      ...calls,
      pointer: (memory) => ffi.getRawPointer(memory),
      errno: () => ffi.getInt32(errno),
    };
  } catch {
    return undefined;
  }
}

/** Memory for one batch of datagrams in one direction. */
export interface Batch {
  readonly data: Uint8Array;
  /** Distance between two datagrams in `data`. */
  readonly stride: number;
  readonly addresses: Buffer;
  /** Which local address a datagram was sent to, for sockets that have several. */
  readonly controls: Buffer;
  /** The message headers as 32-bit words, 16 a message: 2 address length, 10 control length, 12 flags, 14 length. */
  readonly words: Int32Array;
  /** The io vectors as 32-bit words, 4 a message: word 2 is the length. */
  readonly lengths: Int32Array;
  readonly headers: bigint;
}

/** Lays out a batch. Buffers made by allocUnsafeSlow do not move; the caller keeps the batch while calls may use it. */
export function createBatch(calls: SystemCalls, slot: number): Batch {
  const addresses = newMemory(BATCH * SOCKADDR);
  const controls = newMemory(BATCH * CONTROL);
  const stride = (Math.ceil(slot / 64) * 64) | SLOT_PADDING;
  const data = newMemory(BATCH * stride);
  const vectors = newMemory(BATCH * 16);
  const headers = newMemory(BATCH * 64);
  for (let i = 0; i < BATCH; i++) {
    vectors.writeBigUInt64LE(calls.pointer(data) + BigInt(i * stride), i * 16);
    vectors.writeBigUInt64LE(BigInt(slot), i * 16 + 8);
    headers.writeBigUInt64LE(calls.pointer(addresses) + BigInt(i * SOCKADDR), i * 64);
    headers.writeUInt32LE(28, i * 64 + 8);
    headers.writeBigUInt64LE(calls.pointer(vectors) + BigInt(i * 16), i * 64 + 16);
    headers.writeBigUInt64LE(1n, i * 64 + 24);
    headers.writeBigUInt64LE(calls.pointer(controls) + BigInt(i * CONTROL), i * 64 + 32);
    headers.writeUInt32LE(CONTROL, i * 64 + 40);
  }
  return {
    data,
    stride,
    addresses,
    controls,
    words: new Int32Array(headers.buffer, headers.byteOffset, BATCH * 16),
    lengths: new Int32Array(vectors.buffer, vectors.byteOffset, BATCH * 4),
    headers: calls.pointer(headers),
  };
}

export const RECEIVE_SLOT = MAX_QUERY;

function newMemory(size: number): Buffer {
  return Buffer.allocUnsafeSlow(size).fill(0);
}

/** Opens a UDP socket that shares its port with the other workers, and that waits at most `waitMs` for a datagram. */
export function openSocket(calls: SystemCalls, endpoint: Endpoint, waitMs: number): number {
  const six = isIPv6(endpoint.address);
  const fd = calls.socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw socketError(calls, 'socket', endpoint);
  const option = (level: number, name: number, ...values: number[]) => {
    const memory = newMemory(4 * values.length);
    values.forEach((value, i) => memory.writeInt32LE(value, 4 * i));
    return calls.setsockopt(fd, level, name, calls.pointer(memory), memory.length) === 0;
  };
  const wait = [0, 0, waitMs * 1000, 0]; // struct timeval: seconds 8, microseconds 8
  const must =
    option(SOL_SOCKET, OPTION.reuseport, 1) &&
    option(SOL_SOCKET, OPTION.rcvtimeo, ...wait) &&
    option(SOL_SOCKET, OPTION.sndtimeo, ...wait) &&
    (!six || option(IPPROTO_IPV6, IPV6_V6ONLY, Number(endpoint.ipv6Only))) &&
    (!isWildcard(endpoint) ||
      (six ? option(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) : option(IPPROTO_IP, IP_PKTINFO, 1)));
  // Beyond the system's usual bound where we have the right to, else up to it.
  if (!option(SOL_SOCKET, OPTION.rcvbufforce, SOCKET_BUFFER))
    option(SOL_SOCKET, OPTION.rcvbuf, SOCKET_BUFFER);
  if (!option(SOL_SOCKET, OPTION.sndbufforce, SOCKET_BUFFER))
    option(SOL_SOCKET, OPTION.sndbuf, SOCKET_BUFFER);
  const address = socketAddress(endpoint, six);
  if (must && calls.bind(fd, calls.pointer(address), address.length) === 0) return fd;
  const error = socketError(calls, 'bind', endpoint);
  calls.close(fd);
  throw error;
}

function isWildcard({ address }: Endpoint): boolean {
  return /^\0*$/.test(parseAddress(address)!);
}

/**
 * Makes what the kernel said about a query's way in fit for its answer's way out: the same local address (a client
 * ignores an answer from another one), but any interface, except for link-local addresses, which mean nothing without.
 */
export function turnRound(controls: Uint8Array, at: number, length: number): void {
  const six = controls[at + 8] === IPPROTO_IPV6;
  const linkLocal = six && controls[at + 16] === 0xfe && (controls[at + 17]! & 0xc0) === 0x80;
  if (length === 0 || linkLocal) return;
  controls.fill(0, at + (six ? 32 : 16), at + (six ? 36 : 20));
}

function socketAddress(endpoint: Endpoint, six: boolean): Buffer {
  const address = newMemory(six ? 28 : 16);
  address.writeUInt16LE(six ? AF_INET6 : AF_INET, 0);
  address.writeUInt16BE(endpoint.port, 2);
  address.write(parseAddress(endpoint.address)!, six ? 8 : 4, 'latin1');
  return address;
}

function socketError(calls: SystemCalls, call: string, endpoint: Endpoint): Error {
  return new Error(`${call} ${endpoint.address} port ${endpoint.port}: errno ${calls.errno()}`);
}
