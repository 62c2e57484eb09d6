import { endianness } from 'node:os';

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

/** The system calls, and what passes memory to them. */
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

/** Loads the system calls; undefined where the runtime or the machine does not have them. */
export async function loadSystemCalls(): Promise<SystemCalls | undefined> {
  const isSupported =
    process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && endianness() === 'LE';
  if (!isSupported) return undefined;
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

/** Lays out a batch. The caller keeps it referenced while calls may use it. */
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

/** Memory for system calls: buffers made by allocUnsafeSlow do not move. */
export function newMemory(size: number): Buffer {
  return Buffer.allocUnsafeSlow(size).fill(0);
}
