import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InFlightQueue } from './in-flight.ts';

const request = (correlationId: number, answer?: Buffer) => ({
  correlationId,
  apiKey: 0,
  apiVersion: 0,
  since: 0,
  answer,
  onResponse: undefined,
  tapped: undefined,
});

test('it is a queue, however full it gets', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(true, true, false), { maxLength: 200, size: 'max' }), (steps) => {
      const queue = new InFlightQueue();
      const model: number[] = [];
      for (const [i, push] of steps.entries()) {
        if (push) {
          queue.push(request(i));
          model.push(i);
        } else {
          assert.equal(queue.shift()?.correlationId, model.shift());
        }
        assert.equal(queue.length, model.length);
        assert.equal(queue.first?.correlationId, model[0]);
      }
    }),
  );
});

test('it knows whether an answer of ours is in it', () => {
  const queue = new InFlightQueue();
  queue.push(request(1));
  assert.equal(queue.hasAnswers, false);
  queue.push(request(2, Buffer.from('a')));
  assert.equal(queue.hasAnswers, true);
  queue.shift();
  queue.shift();
  assert.equal(queue.hasAnswers, false);
});
