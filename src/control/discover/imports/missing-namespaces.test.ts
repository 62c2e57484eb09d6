import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { atOnce } from '../../../ops/time-slice.ts';
import { missingNamespaces, namespaceNews } from './missing-namespaces.ts';

const keys = () => ['shop/web', 'shop/api', 'shop/web', 'default/db'];

suite('namespaces that are missing for imports', () => {
  test('are those of the services, or the one that all are imported into', () => {
    const hasNamespace = (name: string) => name === 'default';
    assert.deepEqual(atOnce(missingNamespaces({ keys, hasNamespace, importNamespace: undefined })), [
      { namespace: 'shop', count: 2, services: ['api', 'web'] },
    ]);
    const importNamespace = 'cross-cluster-connectivity';
    assert.deepEqual(atOnce(missingNamespaces({ keys, hasNamespace, importNamespace })), [
      { namespace: importNamespace, count: 3, services: ['api', 'db', 'web'] },
    ]);
    assert.deepEqual(atOnce(missingNamespaces({ keys, hasNamespace: () => true, importNamespace })), []);
  });

  test('are told of once each, and again only after they were there', () => {
    const [shop, stock] = ['shop', 'stock'].map((namespace) => ({
      namespace,
      count: 1,
      services: ['web'],
    }));
    const first = namespaceNews([shop!], undefined);
    assert.equal(first.condition.status, 'False');
    assert.match(first.notes.join(), /^namespace "shop" does not exist, .*: web$/);
    const second = namespaceNews([shop!, stock!], first.condition);
    assert.match(second.notes.join(), /^namespace "stock" /);
    const found = namespaceNews([], second.condition);
    assert.deepEqual([found.condition.status, found.notes], ['True', []]);
    assert.equal(namespaceNews([shop!], found.condition).notes.length, 1);
  });

  test('make a message of bounded length, however many there are', () => {
    const all = Array.from({ length: 1000 }, (_, i) => `n-${i}`).flatMap((namespace) =>
      Array.from({ length: 10 }, (_, i) => `${namespace}/service-${i}`),
    );
    const hasNamespace = () => false;
    const many = atOnce(missingNamespaces({ keys: () => all, hasNamespace, importNamespace: undefined }));
    const { condition, notes } = namespaceNews(many, undefined);
    assert.equal(notes.length, 20);
    assert.ok(condition.message.length < 32_768, 'the longest that a condition may have');
    assert.match(condition.message, /: service-0, service-1, service-2, service-3, service-4 and 5 more; /);
    assert.match(condition.message, /and 980 more namespaces$/);
  });
});
