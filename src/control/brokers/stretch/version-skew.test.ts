import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skewWarnings } from './version-skew.ts';

const OWN = '1.4.2';
const isTold = (controllerVersion: string | undefined) =>
  skewWarnings([{ name: 'east', ...(controllerVersion !== undefined && { controllerVersion }) }], OWN)
    .length > 0;

suite('versions of pod-set controllers', () => {
  test('the same minor version and those next to it go together; of what says nothing nothing is claimed', () => {
    for (const version of [OWN, '1.4.0', '1.3.9', '1.5.0-rc.1', 'latest', '', undefined])
      assert.equal(isTold(version), false, String(version));
    for (const version of ['1.2.9', '1.6.0', '0.4.2', '2.4.2', '1.14.2'])
      assert.equal(isTold(version), true, version);
  });

  test('all that are too far are named, with what to do', () => {
    const targets = [
      { name: 'east', controllerVersion: '1.1.0' },
      { name: 'hub', controllerVersion: OWN },
      { name: 'west', controllerVersion: '2.0.0' },
    ];
    const [warning] = skewWarnings(targets, OWN);
    assert.equal(warning?.reason, 'VersionsFarApart');
    assert.match(warning.message, /\(1\.4\.2\): east 1\.1\.0, west 2\.0\.0\. Run isthmus join again/);
  });
});
