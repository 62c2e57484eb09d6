import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readReport, reportOf } from './cluster-report.ts';
import type { TargetState } from './targets.ts';

const STATE: TargetState = {
  name: 'east',
  isCentral: false,
  server: 'https://east.example.com',
  reach: { state: 'unreachable', since: 0, problem: 'x'.repeat(10_000) },
  version: 'v1.36.0',
  credentialExpiresAt: 1000,
  warnings: [{ reason: 'RightsMissing', message: 'create pods' }],
};
const mapOf = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'isthmus-clusters' },
  data,
});

suite('the report about joined clusters', () => {
  test('is read as it was written, and nobody fills it up', () => {
    const report = reportOf(STATE);
    assert.deepEqual(readReport(mapOf({ east: JSON.stringify(report) })), { east: report });
    assert.equal(report.reachable, false);
    assert.equal(report.since, '1970-01-01T00:00:00.000Z');
    assert.ok((report.problem ?? '').length < 3000);
  });

  test('says nothing of what has not been asked', () => {
    assert.equal('reachable' in reportOf({ ...STATE, reach: { state: 'unknown' } }), false);
  });

  test('entries that cannot be read are left out', () => {
    assert.deepEqual(readReport(mapOf({ a: '{', b: '{"reachable":"maybe"}', c: '{}' })), {
      c: { warnings: [] },
    });
    assert.deepEqual(readReport(undefined), {});
  });
});
