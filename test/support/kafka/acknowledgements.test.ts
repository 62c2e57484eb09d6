import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { acknowledged, failed, longestStallMs, readSent } from './acknowledgements.ts';

const line = (name: string, partition: number, timestamp: number, message = '') =>
  JSON.stringify({ name, partition, timestamp, value: '1', message });

suite('what the verifiable producer prints', () => {
  test('lines that are cut off, and what is no record, are passed over', () => {
    const text = `starting\n${line('producer_send_success', 0, 1)}\n{"name":"producer_se`;
    assert.equal(readSent(text).length, 1);
  });

  test('a stall is counted within a partition: others may go on meanwhile', () => {
    const times: [number, number][] = [[0, 100], [1, 110], [1, 200], [1, 400], [0, 600], [0, 650], [1, 660]]; // prettier-ignore
    const sent = times.map(([partition, at]) => line('producer_send_success', partition, at));
    assert.equal(longestStallMs(acknowledged(readSent(sent.join('\n')))), 500);
    assert.equal(longestStallMs([]), 0);
  });

  test('a record that was not sent because the tool was stopped is no failure', () => {
    const sent = [
      line('producer_send_error', 0, 1, 'Cannot perform operation after producer has been closed'),
      line('producer_send_error', 0, 2, 'Expiring 1 record(s)'),
    ];
    assert.deepEqual(failed(readSent(sent.join('\n'))).map(({ timestamp }) => timestamp), [2]); // prettier-ignore
  });
});
