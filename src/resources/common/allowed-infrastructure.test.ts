import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { grantWishes, normaliseAllowed } from './allowed-infrastructure.ts';

const wish = (...keys: string[]) => Object.fromEntries(keys.map((key) => [key, 'v']));

suite('what developers may have put on objects', () => {
  test('is the certificate of OpenShift by default, and no label', () => {
    const annotations = wish(
      'service.beta.openshift.io/serving-cert-secret-name',
      'tailscale.com/expose',
      'x',
    );
    const { granted, refused } = grantWishes(
      { annotations, labels: wish('router') },
      normaliseAllowed(undefined),
    );
    assert.deepEqual(granted, {
      annotations: wish('service.beta.openshift.io/serving-cert-secret-name'),
      labels: {},
    });
    assert.deepEqual(
      refused.map(({ key, why }) => [key, why]),
      [
        ['tailscale.com/expose', 'not allowed'],
        ['x', 'not allowed'],
        ['router', 'not allowed'],
      ],
    );
  });

  test('is nothing where the admin allows nothing', () => {
    const annotations = wish('service.beta.openshift.io/serving-cert-secret-name');
    const { granted } = grantWishes({ annotations, labels: {} }, normaliseAllowed({ annotations: [] }));
    assert.deepEqual(granted, { annotations: {}, labels: {} });
  });

  test('property: never the operator’s own, each key is granted or named, and a pattern means its beginning', () => {
    const key = fc.oneof(
      fc.constantFrom(
        'kroxylicious.io/a',
        'isthmus.dev/a',
        'connectivity.tanzu.vmware.com/fqdn',
        'app/name',
        'x',
      ),
      fc.stringMatching(/^[a-c]{1,3}\/[a-c]{1,3}$/),
    );
    const keys = fc.uniqueArray(key, { maxLength: 8 });
    const patterns = fc.array(
      fc.oneof(
        fc.constant('*'),
        key,
        key.map((text) => `${text}*`),
      ),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(keys, keys, patterns, patterns, (annotations, labels, forAnnotations, forLabels) => {
        const wishes = { annotations: wish(...annotations), labels: wish(...labels) };
        const allowed = { annotations: forAnnotations, labels: forLabels };
        const { granted, refused } = grantWishes(wishes, allowed, { 'app/name': 'isthmus' });
        for (const field of ['annotations', 'labels'] as const) {
          const names = Object.keys(granted[field]);
          const left = refused.flatMap((one) => (one.field === field ? [one.key] : []));
          assert.deepEqual(new Set([...names, ...left]), new Set(Object.keys(wishes[field])));
          for (const name of names) {
            assert.doesNotMatch(name, /^(kroxylicious\.io|isthmus\.dev|connectivity\.tanzu\.vmware\.com)\//);
            assert.ok(field === 'annotations' || name !== 'app/name');
            assert.ok(
              allowed[field].some(
                (one) => one === name || (one.endsWith('*') && name.startsWith(one.slice(0, -1))),
              ),
            );
          }
        }
      }),
    );
  });
});
