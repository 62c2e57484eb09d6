import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { render } from './output.ts';

const rows = [
  { name: 'plain', port: 9082 },
  { name: 'encrypted', port: 9086 },
];
const columns = {
  name: (row: { name: string }) => row.name,
  port: (row: { port: number }) => String(row.port),
};

suite('output', () => {
  test('a table has headings and aligned columns without trailing blanks', () => {
    assert.equal(render(rows, columns, 'table'), 'NAME        PORT\nplain       9082\nencrypted   9086\n');
  });

  test('JSON and YAML carry the whole rows', () => {
    assert.deepEqual(JSON.parse(render(rows, columns, 'json')), rows);
    assert.deepEqual(parse(render(rows, columns, 'yaml')), rows);
  });
});
