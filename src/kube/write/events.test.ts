import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { pino } from 'pino';
import type { Client } from '../http/client.ts';
import { createEventRecorder } from './events.ts';
import { createManualClock, settle } from '../../../test/support/manual-clock.ts';
import type { KubeObject } from '../object.ts';

type Sent = KubeObject & { note?: string; series?: { count: number } };

const about = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, namespace: 'default', uid: name },
});
const notice = (note: string) => ({ type: 'Warning', reason: 'R', action: 'A', note }) as const;

/** A recorder with a server that answers when it is told to; a real one cannot be held up in the middle of a request. */
function open({ hold = false } = {}) {
  const clock = createManualClock();
  const created: Sent[] = [];
  const patched: object[] = [];
  const held: (() => void)[] = [];
  const turn = () => (hold ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve());
  const client = {
    async create(event: Sent) {
      await turn();
      created.push(event);
      return event;
    },
    async mergePatch(_type: object, name: object, patch: object) {
      await turn();
      patched.push(patch);
      return { metadata: name };
    },
  } as unknown as Client;
  const log = pino({ level: 'silent' });
  const recorder = createEventRecorder({ client: () => client, reportingController: 't', log, clock });
  return { recorder, clock, created, patched, held };
}

suite('events', () => {
  test('a note has at most 1024 bytes, as the server counts, and no half characters', async () => {
    const { recorder, created } = open();
    recorder.record(about('a'), notice(`x${'…'.repeat(1000)}`));
    await recorder.flush();
    const { note = '' } = created[0]!;
    assert.ok(Buffer.byteLength(note) <= 1024, `${Buffer.byteLength(note)} bytes`);
    assert.match(note, /^x…+$/);
    await recorder.stop();
  });

  test('what is done for very many objects leaves room for what is wrong with others', async () => {
    const { recorder, created } = open();
    for (let i = 0; i < 1100; i++) recorder.record(about(`a${i}`), { ...notice('done'), type: 'Normal' });
    recorder.record(about('b'), notice('wrong'));
    await recorder.flush();
    assert.equal(created.at(-1)?.note, 'wrong');
    await recorder.stop();
  });

  test('the name of an event is a name, also where that of the object is cut', async () => {
    const { recorder, created } = open();
    recorder.record(about(`${'a'.repeat(199)}-${'b'.repeat(40)}`), notice('n'));
    recorder.record(about(`${'a'.repeat(199)}.${'b'.repeat(40)}`), notice('n'));
    await recorder.flush();
    assert.equal(created.length, 2);
    for (const { metadata } of created)
      assert.match(metadata.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    await recorder.stop();
  });

  test('what is recorded while others are being told is told once', async () => {
    const { recorder, created, patched, held } = open({ hold: true });
    recorder.record(about('a'), notice('n'));
    const flushed = recorder.flush();
    await settle();
    recorder.record(about('b'), notice('n'));
    for (let i = 0; i < 5; i++) {
      held.shift()?.();
      await settle();
    }
    await flushed;
    assert.deepEqual([created.length, patched.length], [2, 0]);
    await recorder.stop();
  });

  test('stopping does not wait for a server that does not answer', async () => {
    const { recorder, clock } = open({ hold: true });
    for (const name of ['a', 'b', 'c']) recorder.record(about(name), notice('n'));
    let stopped = false;
    const done = recorder.stop().then(() => (stopped = true));
    await clock.advance(10_000);
    assert.equal(stopped, true);
    await done;
  });
});
