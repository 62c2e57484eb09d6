import { isIPv6 } from 'node:net';
import { parseAddress } from '../wire/address.ts';
import { newMemory } from './mmsg.ts';
import type { Endpoint } from './endpoint.ts';
import type { SystemCalls } from './mmsg.ts';

export const AF_INET = 2;
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
  const isSetUp =
    option(SOL_SOCKET, OPTION.reuseport, 1) &&
    option(SOL_SOCKET, OPTION.rcvtimeo, ...wait) &&
    option(SOL_SOCKET, OPTION.sndtimeo, ...wait) &&
    (!six || option(IPPROTO_IPV6, IPV6_V6ONLY, Number(endpoint.ipv6Only))) &&
    (!isAnyAddress(endpoint) ||
      (six ? option(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) : option(IPPROTO_IP, IP_PKTINFO, 1)));
  // Beyond the system's limit where the process has the privilege, else up to it.
  if (!option(SOL_SOCKET, OPTION.rcvbufforce, SOCKET_BUFFER))
    option(SOL_SOCKET, OPTION.rcvbuf, SOCKET_BUFFER);
  if (!option(SOL_SOCKET, OPTION.sndbufforce, SOCKET_BUFFER))
    option(SOL_SOCKET, OPTION.sndbuf, SOCKET_BUFFER);
  const address = socketAddress(endpoint, six);
  if (isSetUp && calls.bind(fd, calls.pointer(address), address.length) === 0) return fd;
  const error = socketError(calls, 'bind', endpoint);
  calls.close(fd);
  throw error;
}

function isAnyAddress({ address }: Endpoint): boolean {
  return /^\0*$/.test(parseAddress(address)!);
}

/**
 * Turns the control data of a received query into those of its response: the same local address (a client ignores a
 * response from another one), but any interface, except for link-local addresses, which need theirs.
 */
export function setReplyControl(controls: Uint8Array, at: number, length: number): void {
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
