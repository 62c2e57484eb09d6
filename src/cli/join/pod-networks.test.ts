import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { overlaps } from './pod-networks.ts';

suite('networks of pods', () => {
  test('two that have addresses in common are named, whichever is the larger', () => {
    assert.deepEqual(overlaps(['10.244.0.0/24'], ['10.244.0.0/24']), [
      '10.244.0.0/24 here, 10.244.0.0/24 there',
    ]);
    assert.equal(overlaps(['10.0.0.0/8'], ['10.9.0.0/16']).length, 1);
    assert.equal(overlaps(['10.9.0.0/16'], ['10.0.0.0/8']).length, 1);
    assert.equal(overlaps(['fd00::/48'], ['fd00:0:0:5::/64']).length, 1);
  });
  test('others are not, nor what cannot be read', () => {
    assert.deepEqual(overlaps(['10.1.0.0/16', 'fd01::/64'], ['10.2.0.0/16', 'fd02::/64']), []);
    assert.deepEqual(overlaps(['10.1.0.0'], ['10.1.0.0/16']), []);
    assert.deepEqual(overlaps(['10.1.0.0/99', 'x/8', ''], ['10.0.0.0/8']), []);
  });
});
