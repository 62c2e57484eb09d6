import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { environmentWith } from '../../../test/support/filter-modules.ts';
import { createOwnFilterCheck } from './own-filter-check.ts';
import type { OwnFilterCheck } from './own-filter-check.ts';

const SCHEMAS: Record<string, string> = {
  good: 'return { success: true, data };',
  strict: 'return data.a === 1 ? { success: true, data } : { success: false, error: { issues: [] } };',
  hangs: 'while (true);',
  mixed: 'while (data.hangs); return { success: true, data };',
  ends: 'process.exit(0);',
  greedy: 'const all = []; while (true) all.push(new Array(1e6).fill(0));',
  hangsOnce: `if (!fs.existsSync(data.mark)) { fs.writeFileSync(data.mark, ''); while (true); } return { success: true, data };`,
  throws: 'setTimeout(() => { throw new Error("nobody catches this"); }); return { success: true, data };',
};
/** Packages that all do not come to their end. */
const MANY = Array.from({ length: 10 }, (_, i) => `hangs${i}`);
for (const [i, name] of MANY.entries()) SCHEMAS[name] = `while (true) ${i};`;
const moduleOf = (code: string) =>
  `import fs from 'node:fs'; export const filter = { config: { safeParse(data) { ${code} } }, create: () => ({}) };`;
const modules = new Map(
  Object.entries(SCHEMAS).map(([name, code]) => [
    name,
    `data:text/javascript,${encodeURIComponent(moduleOf(code))}`,
  ]),
);
/** Packages that throw where nobody catches it, before they are there: an answer must not come first. */
const THROWN = { error: 'new TypeError("canary")', text: '"canary"' };
for (const [kind, thrown] of Object.entries(THROWN)) {
  const code = `queueMicrotask(() => { throw ${thrown}; }); await new Promise(() => {});`;
  modules.set(`throws-${kind}`, `data:text/javascript,${encodeURIComponent(code)}`);
}
const execArgv = [environmentWith(modules)['NODE_OPTIONS']!];

/** However busy the machine is. */
const PATIENT = 2 ** 31 - 1;

const problemIn = (own: OwnFilterCheck, name: string, config: object = {}) =>
  own.check({ type: `module:${name}`, config }).then(
    () => undefined,
    (error: Error) => error.message,
  );

suite('the check of filters of users’ own', () => {
  test('what is wrong with one is a problem of its own, also where it ends the thread or takes all memory', async () => {
    const own = createOwnFilterCheck({ execArgv, timeoutMs: PATIENT, roundMs: PATIENT });
    const check = (name: string, config?: object) => problemIn(own, name, config);
    try {
      assert.equal(await check('good'), undefined);
      assert.match((await check('ends')) ?? '', /it ends the thread/);
      assert.match((await check('greedy')) ?? '', /memory/);
      assert.match((await check('absent')) ?? '', /the module absent cannot be loaded/);
      assert.equal(await check('strict', { a: 1 }), undefined);
      assert.match((await check('strict', { a: 2 })) ?? '', /config/);
      await check('throws'); // before or after its answer
      // Whoever comes next, right then or later, is not to blame for it.
      const next = await Promise.all(Array.from({ length: 20 }, () => check('good')));
      assert.ok(next.every((problem) => problem === undefined));
      await check('throws');
      await setTimeout(50);
      for (let i = 0; i < 20; i++) assert.equal(await check('good'), undefined);
    } finally {
      own.close();
    }
  });

  test('what nobody catches is not repeated, only of what kind it is', async () => {
    const own = createOwnFilterCheck({ execArgv, timeoutMs: PATIENT, roundMs: PATIENT });
    try {
      assert.equal(await problemIn(own, 'throws-error'), 'it throws where nobody catches it (TypeError)');
      assert.equal(await problemIn(own, 'throws-text'), 'it throws where nobody catches it (string)');
    } finally {
      own.close();
    }
  });

  test('one that does not come to its end is not waited for a second time', async () => {
    const impatient = createOwnFilterCheck({ execArgv, timeoutMs: 500, roundMs: PATIENT });
    assert.equal(await problemIn(impatient, 'hangs'), 'it does not come to its end');
    impatient.close();
    const patient = createOwnFilterCheck({ execArgv, timeoutMs: PATIENT, roundMs: PATIENT });
    assert.equal(await problemIn(patient, 'hangs'), 'it does not come to its end');
    patient.close();
  });

  test('of a package with one that does not come to its end no other is tried that time, and the next time it is', async () => {
    const open = (timeoutMs: number) => createOwnFilterCheck({ execArgv, timeoutMs, roundMs: PATIENT });
    const before = open(PATIENT);
    assert.equal(await problemIn(before, 'mixed', { taken: true }), undefined);
    before.close();
    const stuck = open(500);
    assert.equal(await problemIn(stuck, 'mixed', { hangs: 1 }), 'it does not come to its end');
    assert.match(
      (await problemIn(stuck, 'mixed', { hangs: 2 })) ?? '',
      /^it is not tried yet, because another/,
    );
    assert.match((await problemIn(stuck, 'mixed', { n: 1 })) ?? '', /^it is not tried yet/);
    assert.equal(await problemIn(stuck, 'mixed', { taken: true }), undefined, 'as before');
    assert.equal(stuck.leftUntried(), true);
    stuck.close();
    const next = open(PATIENT);
    assert.equal(await problemIn(next, 'mixed', { hangs: 1 }), 'it does not come to its end');
    assert.equal(await problemIn(next, 'mixed', { n: 1 }), undefined);
    assert.equal(next.leftUntried(), false);
    next.close();
  });

  test('a thread that takes long to start is no reason to refuse one, nor is one time without an answer', async () => {
    const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);';
    const slowStart = [...execArgv, `--import=data:text/javascript,${encodeURIComponent(wait)}`];
    const slow = createOwnFilterCheck({ execArgv: slowStart, timeoutMs: 3000, roundMs: PATIENT });
    assert.equal(await problemIn(slow, 'good'), undefined);
    slow.close();
    const own = createOwnFilterCheck({ execArgv, timeoutMs: 3000, roundMs: PATIENT });
    const mark = join(mkdtempSync(join(tmpdir(), 'own-filter-')), 'mark');
    assert.equal(await problemIn(own, 'hangsOnce', { mark }), undefined);
    assert.equal(await problemIn(own, 'good'), undefined);
    own.close();
  });

  test('all that do not come to their end together have a time, and who was not tried for that reason is the next time', async () => {
    const round = createOwnFilterCheck({ execArgv, timeoutMs: 200, roundMs: 1000 });
    const problems: (string | undefined)[] = [];
    for (const type of MANY) problems.push(await problemIn(round, type));
    assert.match(problems.at(-1) ?? '', /^it is not tried yet/);
    assert.equal(await problemIn(round, 'good', { i: 0 }), problems.at(-1));
    assert.equal(round.leftUntried(), true);
    round.close();
    const next = createOwnFilterCheck({ execArgv, timeoutMs: PATIENT, roundMs: PATIENT });
    assert.equal(await problemIn(next, 'good', { i: 0 }), undefined);
    next.close();
  });
});
