import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Right } from '../kernel/rights.ts';
import { excessRights, isAdministrator, missingRights } from './rights-check.ts';
import type { GrantedRule } from './rights-check.ts';

const need = (resource: string, verbs: string[], group = ''): Right => ({
  group,
  resource,
  verbs,
  scope: 'Namespaced',
});
const rule = (resources: string[], verbs: string[], apiGroups = ['']): GrantedRule => ({
  apiGroups,
  resources,
  verbs,
});

suite('rights of an account', () => {
  test('each that is missing is named', () => {
    const rules = [rule(['services', 'secrets'], ['get', 'list'])];
    const needs = [need('services', ['get']), need('secrets', ['list', 'watch']), need('pods', ['delete'])];
    assert.deepEqual(missingRights(rules, needs), ['watch secrets', 'delete pods']);
    assert.deepEqual(missingRights(rules, [need('strimzipodsets', ['get'], 'core.strimzi.io')]), [
      'get strimzipodsets.core.strimzi.io',
    ]);
  });
  test('stars grant, names do not grant all', () => {
    assert.deepEqual(missingRights([rule(['*'], ['*'], ['*'])], [need('pods', ['get'], 'x')]), []);
    assert.deepEqual(missingRights([rule(['*/status'], ['patch'])], [need('pods/status', ['patch'])]), []);
    const some = { ...rule(['secrets'], ['get']), resourceNames: ['one'] };
    assert.deepEqual(missingRights([some], [need('secrets', ['get'])]), ['get secrets']);
  });
  test('who may do everything is an administrator', () => {
    assert.ok(isAdministrator([rule(['*'], ['*'], ['*'])]));
    assert.ok(!isAdministrator([rule(['*'], ['get'], ['*']), rule(['*'], ['*'])]));
  });
  test('what nobody needs is excess, but for what all may ask of themselves', () => {
    const about = rule(['selfsubjectreviews'], ['create'], ['authentication.k8s.io']);
    const rules = [rule(['pods'], ['get', 'delete']), rule(['*'], ['list'], ['apps']), about];
    assert.deepEqual(excessRights(rules, [need('pods', ['get'])]), ['delete pods', 'list *.apps']);
  });
});
