import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { inspect } from 'node:util';
import { stringify } from 'yaml';
import { loadProxyConfig } from './load.ts';

suite('configuration files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'isthmus-load-'));
  after(() => rmSync(directory, { recursive: true }));
  const load = (text: string) => {
    const file = join(directory, 'proxy.yaml');
    writeFileSync(file, text);
    return loadProxyConfig(file);
  };

  test('JSON, YAML, and YAML that looks like JSON at first mean the same', async () => {
    const document = { workers: 2, virtualClusters: [] };
    const { config } = await load(JSON.stringify(document));
    assert.equal(config.workers, 2);
    assert.deepEqual((await load(stringify(document))).config, config);
    assert.deepEqual((await load('{ workers: 2, virtualClusters: [] } # by hand')).config, config);
  });

  const cluster = (name: string, port: number, more: object = {}) => ({
    name,
    targetCluster: { bootstrapServers: 'kafka:9092' },
    gateways: [gateway(port)],
    ...more,
  });
  const gateway = (port: number, more: object = {}) => ({
    name: 'g',
    portIdentifiesNode: { bootstrapAddress: `h:${port}` },
    ...more,
  });

  test('what cannot be loaded takes out its own virtual cluster alone', async () => {
    const filter = (name: string, type: string, config: object) => ({ name, type, config });
    const document = {
      filterModules: [{ name: 'no-such-filter-module' }],
      filterDefinitions: [
        filter('missing', 'module:no-such-filter-module', {}),
        filter('stranger', 'module:stranger', {}),
        filter('unknown', 'no-such-filter', {}),
        filter('wrong', 'connection-expiry', { maxAge: 'for ever' }),
        filter('fine', 'connection-expiry', { maxAge: '1h' }),
      ],
      virtualClusters: [
        cluster('good', 1000, { filters: ['fine'] }),
        cluster('misspelt', 1010, { filtres: [] }),
        cluster('module', 1020, { filters: ['missing'] }),
        cluster('not-allowed', 1025, { filters: ['stranger'] }),
        cluster('type', 1030, { filters: ['unknown'] }),
        cluster('config', 1040, { filters: ['wrong'] }),
        cluster('key', 1050, {
          gateways: [gateway(1050, { tls: { key: { certificate: 'x', privateKey: 'y' } } })],
        }),
        cluster('file', 1060, { gateways: [gateway(1060, { tls: { key: { storeFile: '/not/there' } } })] }),
        cluster('ports', 1001),
        cluster('also-good', 1070),
      ],
    };
    const { config, rejected } = await load(JSON.stringify(document));
    assert.deepEqual(
      config.virtualClusters.map(({ name }) => name),
      ['good', 'also-good'],
    );
    assert.deepEqual([...new Set(rejected.map((one) => one.cluster))].toSorted(), [
      'config',
      'file',
      'key',
      'misspelt',
      'module',
      'not-allowed',
      'ports',
      'type',
    ]);
    assert.ok(rejected.every(({ stage }) => stage === 'load'));
    const problemOf = (name: string) => rejected.find((one) => one.cluster === name)?.problem ?? '';
    assert.match(problemOf('config'), /filterDefinitions\[wrong\].*maxAge: must be a duration/s);
    assert.match(problemOf('module'), /filterDefinitions\[missing\].*no-such-filter-module/);
    assert.match(problemOf('not-allowed'), /"stranger" is of a module that filterModules does not name/);
    assert.match(problemOf('ports'), /gateways\[g\]: port 1001 is taken by virtual cluster good/);
  });

  test('a text that is neither is refused, with the place, and without what is there', () => {
    return assert.rejects(
      load('{ "workers": 2,\n  "privateKey": "MIIE", [ }'),
      (error: Error) => /line 2/.test(error.message) && !/MIIE/.test(inspect(error)),
    );
  });
});
