/** Whether we and a real CoreDNS agree on what a Corefile is: what we take for one, it must start with. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import fc from 'fast-check';
import { delegate } from '../../../src/control/discover/delegation/corefile/block.ts';
import { parseCorefile } from '../../../src/control/discover/delegation/corefile/parse.ts';
import { ensureCoreDns } from '../../support/install/coredns.ts';
import { workspace } from '../../support/workspace.ts';

/** What CoreDNS knows and we cannot: its plugins, what they want, files, its environment, and whether an address is free. */
const NOT_STRUCTURE =
  /^plugin\/|Unknown directive '([a-z][a-z0-9_-]*|[^']*z\.test[^']*)'|valid domain name: [^\n]*z\.test|File to import not found|Could not import|address already in use/m;
/** The same Corefiles each time, since CoreDNS is not ours to mend; ISTHMUS_SEED looks at others. */
const SEED = Number(process.env['ISTHMUS_SEED'] ?? 1);
const STARTED = /^CoreDNS-\d/m;

let program: string;
let directory: string;
let files = 0;

const UNCLEAR = 'unclear';

/**
 * What CoreDNS says against a Corefile; undefined if it starts with it, `unclear` if what it says is of another kind. Port 0 stands
 * for the one that is meant where none is named.
 */
async function complaint(corefile: string): Promise<string | undefined> {
  const file = join(directory, `Corefile-${files++}`);
  await writeFile(file, corefile);
  const child = spawn(program, ['-conf', file, '-dns.port=0'], { env: { ZONE: 'z.test' }, stdio: 'pipe' });
  let said = '';
  const look = (chunk: Buffer) => {
    said += chunk.toString();
    if (STARTED.test(said)) child.kill('SIGKILL');
  };
  child.stdout.on('data', look);
  child.stderr.on('data', look);
  await once(child, 'close');
  if (STARTED.test(said)) return undefined;
  const reason = said.replace(/^maxprocs.*\n/, '');
  return NOT_STRUCTURE.test(reason) ? UNCLEAR : reason;
}

function ourComplaint(corefile: string): string | undefined {
  const parsed = parseCorefile(corefile.replaceAll(':0', ':53'));
  return 'problem' in parsed ? parsed.problem : undefined;
}

/** Where we are stricter, knowingly: CoreDNS takes the end of an inner block for that of the outer one if the file ends there. */
const isStricter = (problem: string) => problem.endsWith('is never closed');

async function compare(corefile: string): Promise<void> {
  const [ours, theirs] = [ourComplaint(corefile), await complaint(corefile)];
  const shown = `${JSON.stringify(corefile)}: we say ${ours ?? 'fine'}, CoreDNS says ${theirs ?? 'fine'}`;
  if (ours === undefined) assert.ok(theirs === undefined || theirs === UNCLEAR, shown);
  else if (!isStricter(ours)) assert.notEqual(theirs, undefined, shown);
}

suite('CoreDNS and we', () => {
  before(async () => {
    program = await ensureCoreDns();
    directory = workspace('corefiles');
  });

  test('agree on Corefiles that are fine', async () => {
    for (const corefile of [
      '',
      '# nothing',
      '. {\n    log\n    errors\n}\n',
      'a.test b.test:0 {\n    whoami\n}\n',
      'a.test,\nb.test {\n}\n',
      '(snippet) {\n    log\n    errors\n}\n. {\n    import snippet\n}\nb.test {\n    import snippet\n    whoami\n}\n',
      'import nowhere/*.server\n. {\n    import nowhere/*.override\n}\n',
      '{$ZONE} {\n    whoami\n}\n',
      '{%ZONE%}:0 {\n}\n',
      '"a.test" {\n    log . "{combined} \\"quoted\\""\n}\n',
      '. { # a comment\n    log # { another\n}\n# and one more\n',
      '. {\n}#comment these are zones\n',
      'a.test{x {\n}\n',
      '. {\r\n    log\r\n}\r\n',
      '\uFEFF. {\n}\n',
      'a.test\nlog\nerrors\n',
      '. {\n}\n}\n',
      '. {\n    log . {\n        class all\n    }\n}\n',
      'dns://a.test {\n}\na.test:10053 {\n}\n',
      '. {\n    view x {\n        expr true\n    }\n}\n. {\n}\n',
    ]) {
      assert.equal(ourComplaint(corefile), undefined, JSON.stringify(corefile));
      await compare(corefile);
    }
  });

  test('agree on Corefiles that are not', async () => {
    for (const corefile of [
      '. {',
      '. {\n    log\n',
      '. {\n    log }\n}\n',
      '. {\n    log "\n}\n',
      '. {\n    {\n    }\n}\n',
      'a.test, {\n}\n',
      'a.test,',
      ', {\n}\n',
      'a.test: {\n}\n',
      'a.test {\n}\nA.TEST.:0 {\n}\n',
      'a.test a.test {\n}\n',
      'a.test\nb.test:0 {\n    log\n}\n',
      '(a) {\n    import a\n}\n',
      '(a) {\n}\n(a) {\n}\n',
      '(a)\nlog\n',
      '(a) {\n    log\n',
      '. {\n    import\n}\n',
      '. {\n    import a b\n}\n',
      '. {\n    import *a*\n}\n',
      'import \\',
      'import a[',
      '. {\n    log # }\n',
    ]) {
      assert.notEqual(ourComplaint(corefile), undefined, JSON.stringify(corefile));
      assert.notEqual(await complaint(corefile), undefined, JSON.stringify(corefile));
    }
  });

  test('agree on heaps of words', async () => {
    const words = fc.constantFrom(
      '. ',
      'a.test ',
      'b.test:0 ',
      'c.test, ',
      '{$ZONE} ',
      '{',
      ' {\n',
      ' {\n',
      '}',
      '\n}\n',
      '\n}\n',
      '\n',
      '\n',
      '\r\n',
      ' ',
      '"',
      '#',
      'import ',
      '(s) ',
      's ',
      'log\n',
      'errors\n',
      'whoami ',
      '\\',
      '"x y" ',
      '()',
      '\nimport s\n',
      '\n(s) {\nwhoami\n}\n',
      '\u00a0',
      '\u2003',
      'x#y ',
      'd.test {\nwhoami\n}\n',
      '""',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 14 }), (pieces) => compare(pieces.join(''))),
      { numRuns: 200, seed: SEED },
    );
  });

  test('agree on what we have written into a Corefile', async () => {
    const piece = fc.constantFrom(
      '. {\n    errors\n    cache\n}\n',
      'a.test {\n}\n',
      '# comment',
      '\n',
      '(s) {\n  log\n}\n',
      'i.test\n',
      'import more/*.server\n',
      'd.test {\n  import s\n}\n',
      '.:0 {\n}',
      '"',
      '}',
      'h.test {\n',
      'e.test,\n',
    );
    const server = fc.constantFrom('10.96.0.20', '10.96.0.20:5353', 'fd00::20', '[fd00::20]:5353');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 5 }), server, async (pieces, address) => {
        const zones = ['xcc.test', 'clusterset.local'];
        const delegation = { zones, server: address, owner: 'isthmus-system/isthmus-dns' };
        const edited = delegate(pieces.join('').replaceAll(':0', ':53'), delegation);
        if ('problem' in edited) return;
        const said = await complaint(edited.text.replaceAll(':53 ', ':0 '));
        assert.ok(said === undefined || said === UNCLEAR, `${edited.text}\n${said}`);
      }),
      { numRuns: 60, seed: SEED },
    );
  });
});
