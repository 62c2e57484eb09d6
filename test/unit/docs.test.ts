/** Every example in the documentation is held against the code: an example that no longer works fails here. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import type { Command } from 'commander';
import { parse, parseAllDocuments } from 'yaml';
import { createProgram } from '../../src/cli/program.ts';
import { dnsCommandSchema } from '../../src/cli/dns-config.ts';
import { connectionOf, parseKubeconfig } from '../../src/kube/http/kubeconfig.ts';
import { checkConfig } from '../../src/ops/config.ts';
import { configSchema } from '../../src/proxy/config/schema.ts';
import { isForeignKind, parseResource } from '../../src/resources/parse.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });

interface Example {
  where: string;
  /** The word after the fence, and the one after that: ```yaml proxy */
  language: string;
  kind: string;
  text: string;
}

function examplesOf(page: string): Example[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w*) ?(\w*)\n(.*?)^```$/gms)].map((match) => {
    const [, language = '', kind = '', body = ''] = match;
    return { where: `${page}:${text.slice(0, match.index).split('\n').length}`, language, kind, text: body };
  });
}

const examples = pages.flatMap(examplesOf);

/** What a YAML example may be; the word stands after ```yaml. */
const CHECKS: Record<string, (example: Example) => void> = {
  proxy: ({ text, where }) => void checkConfig(configSchema, parse(text), where),
  dns: ({ text, where }) => void checkConfig(dnsCommandSchema, parse(text), where),
  kubeconfig: ({ text, where }) => void connectionOf(parseKubeconfig(text, where)),
  resources: ({ text, where }) => {
    for (const document of [parseAllDocuments(text)].flat()) {
      const resource = document.toJS() as { apiVersion?: string } | null;
      const parsed = parseResource(resource);
      // Of Secrets and the like we know nothing; a kind of ours that is misspelt is none of them.
      const isForeign = resource?.apiVersion === 'v1' || isForeignKind(resource);
      assert.ok(parsed.ok || (parsed.unknownKind && isForeign), `${where}: ${JSON.stringify(parsed)}`);
    }
  },
};

/** The command that a line calls, with the words after it; undefined if the line calls something else. */
function isthmusCall(line: string): string[] | undefined {
  const call = /^(?:isthmus|npm run -s isthmus --) (.*)/.exec(line.trim().replace(/\s*[|#].*$/, ''));
  return call?.[1]?.split(/\s+/);
}

function checkCall(words: string[], where: string): void {
  const silent = { out: () => {}, err: () => {}, exitCode: 0 as const };
  let command: Command = createProgram(silent);
  while (words[0] !== undefined) {
    const next = command.commands.find((child) => child.name() === words[0]);
    if (!next) break;
    command = next;
    words.shift();
  }
  // Where there are commands, the next word is one, or an option of a command that can also be called alone.
  const isCommand = command.commands.length === 0 || (words[0] ?? '-').startsWith('-');
  assert.ok(command.parent && isCommand, `${where}: ${command.name()} has no command ${words[0]}`);
  // An option that a command lacks may be one of the command above it.
  let { unknown } = command.parseOptions(words);
  for (let above: Command | null = command.parent; above; above = above.parent)
    ({ unknown } = above.parseOptions(unknown));
  assert.deepEqual(unknown, [], `${where}: unknown options of ${command.name()}`);
}

suite('documentation', () => {
  test('there is an example of every kind', () => {
    for (const kind of Object.keys(CHECKS))
      assert.ok(
        examples.some((example) => example.language === 'yaml' && example.kind === kind),
        kind,
      );
    assert.ok(examples.some(({ text }) => text.split('\n').some(isthmusCall)));
    // What is not at the start of a line would not be found.
    for (const page of pages)
      assert.equal(
        readFileSync(join(root, page), 'utf8').match(/```/g)?.length ?? 0,
        examplesOf(page).length * 2,
        page,
      );
  });

  test('every YAML example says what it is, and is valid', () => {
    for (const example of examples.filter(({ language }) => language === 'yaml')) {
      const check = CHECKS[example.kind];
      assert.ok(check, `${example.where}: write one of ${Object.keys(CHECKS).join(', ')} after \`\`\`yaml`);
      check(example);
    }
  });

  test('every command line calls a command with options that it has', () => {
    for (const { text, where } of examples.filter(({ language }) => language === 'sh')) {
      for (const line of text.split('\n')) {
        const words = isthmusCall(line);
        if (words) checkCall(words, where);
        const script = /^npm (?:run )?(?:-s )?(test|up|bench|build|[\w:]+)/.exec(line.trim())?.[1];
        if (script) assert.ok(script in scripts(), `${where}: no npm script ${script}`);
        const file = /^node tools\/run\.mjs (\S+)/.exec(line.trim())?.[1];
        if (file !== undefined) assert.ok(existsSync(join(root, file)), `${where}: there is no ${file}`);
      }
    }
  });

  test('every link to a file leads somewhere', () => {
    for (const page of pages) {
      const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$/gms, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        assert.ok(existsSync(resolve(root, dirname(page), target)), `${page} links to ${target}`);
      }
    }
  });
});

function scripts(): Record<string, string> {
  const file = readFileSync(join(root, 'package.json'), 'utf8');
  return { test: '', ...(JSON.parse(file) as { scripts: Record<string, string> }).scripts };
}
