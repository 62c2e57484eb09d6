import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ERRORS_PAGE, errorsPage } from '../../tools/errors-page.ts';

test('the page about errors is up to date', () => {
  const found = readFileSync(join(import.meta.dirname, '../..', ERRORS_PAGE), 'utf8');
  assert.ok(found === errorsPage(), `${ERRORS_PAGE} differs from the table: run \`npm run generate\``);
});
