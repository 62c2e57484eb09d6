import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../ops/errors.ts';
import { CLASS_IN, HEADER_SIZE, RCODE, TYPE, rcodeName } from '../wire/constants.ts';
import { formatName } from '../wire/name.ts';
import { TSIG_ERROR, checkTsig, signMessage } from '../wire/tsig.ts';
import type { Log } from '../../ops/log.ts';
import type { Name } from '../wire/name.ts';
import type { TsigKey } from '../wire/tsig.ts';

/** A secondary that is told of changes. */
export interface NotifyTarget {
  address: string;
  port: number;
  key: TsigKey | undefined;
}

export interface NotifierOptions {
  targets: readonly NotifyTarget[];
  log: Log;
  /** How long to collect changes before they are told, and to wait for each response. */
  collectMs?: number;
  attemptMs?: readonly number[];
}

/** Tells secondaries that a zone has changed (RFC 1996). */
export interface Notifier {
  changed(zone: Name): void;
  readonly counts: Readonly<Record<'answered' | 'failed', number>>;
  close(): Promise<void>;
}

const COLLECT_MS = 500;
/** A secondary that is down asks by itself when it is up again, so there is an end to it. */
const ATTEMPT_MS = [1000, 2000, 4000, 8000, 16_000];
const OPCODE_NOTIFY = 4;

export function createNotifier(options: NotifierOptions): Notifier {
  const { targets, log, collectMs = COLLECT_MS, attemptMs = ATTEMPT_MS } = options;
  const counts = { answered: 0, failed: 0 };
  const stopped = new AbortController();
  const working = new Set<Promise<void>>();

  async function tell(target: NotifyTarget, zone: Name): Promise<void> {
    let problem = '';
    for (const timeoutMs of attemptMs) {
      const answer = await exchange(
        target,
        zone,
        AbortSignal.any([stopped.signal, AbortSignal.timeout(timeoutMs)]),
      ).catch((error: unknown) => messageOf(error));
      if (stopped.signal.aborted) return;
      if (answer === RCODE.NOERROR) return void (counts.answered += 1);
      problem = typeof answer === 'number' ? rcodeName(answer) : answer;
      // Who answers has understood, and will not answer otherwise.
      if (typeof answer === 'number') break;
    }
    counts.failed += 1;
    const { address, port } = target;
    log.warn(
      { secondary: `${address} port ${port}`, zone: formatName(zone), problem },
      'secondary could not be notified',
    );
  }

  /** Each secondary is told by itself: one that does not answer keeps no other waiting. */
  function tellerOf(target: NotifyTarget): (zone: Name) => void {
    /** Zones that it is being told of; true if they have changed again since the last attempt began. */
    const running = new Map<Name, boolean>();
    async function run(zone: Name): Promise<void> {
      do {
        await delay(collectMs, undefined, { signal: stopped.signal }).catch(() => undefined);
        running.set(zone, false);
        if (!stopped.signal.aborted) await tell(target, zone);
      } while (running.get(zone) && !stopped.signal.aborted);
      running.delete(zone);
    }
    return (zone) => {
      const isRunning = running.has(zone);
      running.set(zone, true);
      if (isRunning) return;
      const work = run(zone).finally(() => working.delete(work));
      working.add(work);
    };
  }

  const tellers = targets.map(tellerOf);
  return {
    counts,
    changed(zone) {
      for (const tellOf of tellers) tellOf(zone);
    },
    async close() {
      stopped.abort();
      await Promise.all(working);
    },
  };
}

/** The bytes of a NOTIFY message: opcode 4, authoritative, the question is the zone's SOA. */
export function notifyBytes(zone: Name, id: number): Buffer {
  const header = Buffer.from([id >> 8, id, (OPCODE_NOTIFY << 3) | 4, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, Buffer.from(zone, 'latin1'), Buffer.from([0, TYPE.SOA, 0, CLASS_IN])]);
}

/** Sends one message; resolves to the response code. What is not the response, or not signed as the message was, is ignored. */
function exchange({ address, port, key }: NotifyTarget, zone: Name, signal: AbortSignal): Promise<number> {
  const id = randomInt(0x10000);
  const plain = notifyBytes(zone, id);
  const now = Math.floor(Date.now() / 1000);
  const { signed, mac } = key ? signMessage(plain, { key, now }) : { signed: plain, mac: undefined };
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  const response = new Promise<number>((resolve, reject) => {
    const give = () => reject(new Error('no response'));
    signal.addEventListener('abort', give, { once: true });
    if (signal.aborted) give();
    // A secondary that starts a moment later refuses the datagram first: the time of this attempt is waited for all the same.
    socket.on('error', () => {});
    socket.on('message', (bytes) => {
      const rcode = readResponse(bytes, id);
      if (rcode !== undefined && (!key || !mac || isSigned(bytes, key, mac, zone))) resolve(rcode);
    });
    socket.connect(port, address, () => socket.send(signed));
  });
  return response.finally(() => socket.close());
}

function readResponse(bytes: Buffer, id: number): number | undefined {
  if (bytes.length < HEADER_SIZE || bytes.readUInt16BE(0) !== id) return undefined;
  return bytes[2]! >> 3 === 0x10 + OPCODE_NOTIFY ? bytes[3]! & 15 : undefined;
}

/** Whether a response has the question alone, if that, and then a valid TSIG record. */
function isSigned(bytes: Buffer, key: TsigKey, mac: Uint8Array, zone: Name): boolean {
  if (bytes.readUInt16BE(6) + bytes.readUInt16BE(8) > 0 || bytes.readUInt16BE(10) !== 1) return false;
  const at = HEADER_SIZE + (bytes.readUInt16BE(4) === 1 ? zone.length + 4 : 0);
  const signature = checkTsig(bytes, at, [key], Math.floor(Date.now() / 1000), mac);
  return signature?.error === TSIG_ERROR.NONE;
}
