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

  test('JSON, YAML, and YAML that looks like JSON at first mean the same', () => {
    const document = { workers: 2, virtualClusters: [] };
    const { config } = load(JSON.stringify(document));
    assert.equal(config.workers, 2);
    assert.deepEqual(load(stringify(document)).config, config);
    assert.deepEqual(load('{ workers: 2, virtualClusters: [] } # by hand').config, config);
  });

  test('a text that is neither is refused, with the place, and without what is there', () => {
    assert.throws(
      () => load('{ "workers": 2,\n  "privateKey": "MIIE", [ }'),
      (error: Error) => /line 2/.test(error.message) && !/MIIE/.test(inspect(error)),
    );
  });
});
