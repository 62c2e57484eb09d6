import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shownDocument } from './shown.ts';

const filter = (type: string, config: object) => ({
  apiVersion: 'filter.kroxylicious.io/v1alpha1',
  kind: 'KafkaProtocolFilter',
  metadata: { name: 'f' },
  spec: { type, config },
});

suite('a document that may be shown', () => {
  test('has no values of Secrets', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      stringData: { key: 'canary' },
    };
    const shown = await shownDocument(secret, []);
    assert.deepEqual(shown.stringData, { key: '(not shown)' });
    for (const odd of [{ stringdata: { key: 'canary' } }, { data: ['canary'] }, { data: 'canary' }])
      assert.doesNotMatch(JSON.stringify(await shownDocument({ ...secret, ...odd }, [])), /canary/);
  });

  test('has no secret fields of filters, but placeholders and all the rest', async () => {
    const kek = (key: string) => ({ uuid: '1', key, alias: 'a' });
    const config = { kmsConfig: { existingKeks: [kek('canary'), kek('${secret:keys:key}')] }, selector: 's' };
    const shown = await shownDocument(filter('record-encryption', config), []);
    const text = JSON.stringify(shown);
    assert.ok(
      !text.includes('canary') && text.includes('${secret:keys:key}') && text.includes('"alias":"a"'),
    );
  });

  test('has nothing of a configuration of which nobody says what is secret', async () => {
    const config = { a: 'canary', b: 'canary' };
    const unknown = await shownDocument(filter('module:theirs', config), []);
    assert.equal(unknown.spec.config, '(not shown)');
    const told = await shownDocument(filter('module:theirs', config), [
      { name: 'theirs', secretFields: ['a'] },
    ]);
    assert.deepEqual(told.spec.config, { a: '(not shown)', b: 'canary' });
  });

  test('has not what kubectl keeps of all that it applied', async () => {
    const object = filter('record-encryption', {});
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'canary', other: 'stays' };
    const metadata = { ...object.metadata, annotations };
    const shown = await shownDocument({ ...object, metadata }, []);
    assert.deepEqual(shown.metadata.annotations, { other: 'stays' });
  });
});
