/** The console's pages as they are built: small, and of a kind that a strict policy lets run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { readAssets } from '../../src/console/http/assets.ts';
import type { Asset } from '../../src/console/http/assets.ts';
import { buildPages, CLONE_PAGES } from '../../tools/console-pages.ts';

const MOST_GZIPPED = 100_000;

suite('the console’s pages', () => {
  let assets: ReadonlyMap<string, Asset>;
  before(async () => {
    await buildPages();
    assets = readAssets(CLONE_PAGES);
  });

  test('are small', () => {
    const bytes = [...assets.values()].reduce((sum, { gzipped }) => sum + gzipped.length, 0);
    assert.ok(bytes > 10_000 && bytes < MOST_GZIPPED, `${bytes} bytes gzipped`);
  });

  test('have no script or style within the page, and load nothing from elsewhere', () => {
    const page = readFileSync(join(CLONE_PAGES, 'index.html'), 'utf8');
    assert.doesNotMatch(page, /<script(?![^>]* src=)|<style|style=|\son\w+=/);
    const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    assert.ok(links.length >= 3);
    for (const link of links) assert.ok(assets.has(link), link);
  });
});
