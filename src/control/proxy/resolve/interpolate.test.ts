import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { interpolate, placeholdersIn } from './interpolate.ts';
import type { Provider } from './interpolate.ts';

const lookup = (provider: Provider, name: string, key: string) =>
  name === 'missing' ? undefined : `<${provider} ${name} ${key}>`;

suite('interpolation', () => {
  test('placeholders are replaced in secret fields', () => {
    const config = {
      kms: { token: '${secret:vault:token}', list: ['a', '${configmap:cm:x.pem}'] },
      n: 1,
      none: null,
    };
    assert.deepEqual(interpolate(config, lookup, ['kms.token', 'kms.list.*']), {
      value: {
        kms: { token: '<secret vault token>', list: ['a', '<configmap cm x.pem>'] },
        n: 1,
        none: null,
      },
      unresolved: [],
      misplaced: [],
      replaced: '<secret vault token><configmap cm x.pem>'.length,
    });
  });

  test('in any other field they stay as they are, and nothing is looked up for them', () => {
    const config = {
      token: '${secret:vault:token}',
      list: ['${secret:vault:token}'],
      name: '${configmap:a:b}',
    };
    const found = interpolate(config, () => assert.fail('looked up'), [
      'list',
      'token.*',
      'list.*.x',
      'other',
    ]);
    assert.deepEqual(found.value, config);
    assert.deepEqual(
      found.misplaced.map(({ path }) => path.join('.')),
      ['token', 'list.0', 'name'],
    );
    assert.deepEqual(placeholdersIn(config), found.misplaced);
  });

  test('a caret escapes, and escapes itself', () => {
    const text = (carets: string) =>
      (interpolate([`${carets}\${secret:a:b}`], lookup, ['*']).value as string[])[0];
    assert.equal(text('^'), '${secret:a:b}');
    assert.equal(text('^^'), '^<secret a b>');
    assert.equal(text('^^^'), '^${secret:a:b}');
  });

  test('what is missing or unknown is named with its place, and left as it is', () => {
    const result = interpolate({ a: [{ b: '${secret:missing:k}' }], c: '${vault:x:y}' }, lookup, [
      'a.*.b',
      'c',
    ]);
    assert.deepEqual(result.unresolved, [
      { path: ['a', 0, 'b'], provider: 'secret', name: 'missing', key: 'k' },
      { path: ['c'], provider: 'vault', name: 'x', key: 'y' },
    ]);
  });

  test('a placeholder inside a longer text is plain text', () => {
    assert.deepEqual(interpolate(['x ${secret:a:b}'], lookup, ['*']).value, ['x ${secret:a:b}']);
  });

  test('property: a config without placeholders comes back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (config) => {
        fc.pre(!JSON.stringify(config).includes('${'));
        assert.deepEqual(interpolate(config, lookup, ['*', '*.*']).value, config);
      }),
    );
  });
});
