import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { VERSION_LABEL } from '../../control/shared/version-label.ts';
import { VERSION } from '../../ops/version.ts';
import { programOf } from './program.ts';

suite('what is installed in clusters that are joined', () => {
  const defaultImage = 'isthmus:default';
  const operator = { image: 'isthmus:running', labels: { [VERSION_LABEL]: '0.0.9' } };

  test('is what the operator runs, of the version that it is of and not of this command', () => {
    assert.deepEqual(programOf({ defaultImage }, operator), { image: 'isthmus:running', version: '0.0.9' });
    assert.equal(programOf({ defaultImage }, { ...operator, labels: {} }).version, undefined);
  });

  test('is what was asked for, or else comes with this command', () => {
    const image = 'isthmus:asked';
    assert.deepEqual(programOf({ image, defaultImage }, operator), { image, version: VERSION });
    assert.deepEqual(programOf({ defaultImage }, undefined), { image: defaultImage, version: VERSION });
  });
});
