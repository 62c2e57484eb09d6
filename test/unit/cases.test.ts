/** The cases of test/crds, judged by the schemas. test/integration/resources has an API server judge the same. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { pathText } from '../../src/resources/messages.ts';
import { parseResource } from '../../src/resources/parse.ts';
import { KINDS } from '../../src/resources/registry.ts';
import type { Structural } from '../../src/resources/structural.ts';
import { readCases } from '../crds/cases.ts';

const cases = readCases();

suite('cases', () => {
  for (const { name, yaml, expected } of cases) {
    test(name, () => {
      const parsed = parseResource(parse(yaml));
      const problems = parsed.ok
        ? []
        : parsed.problems.map(({ path, message }) => `${pathText(path)}: ${message}`);
      if (expected === undefined) assert.deepEqual(problems, []);
      else
        assert.ok(problems.join('\n').includes(expected.file), `found: ${problems.join('\n') || 'nothing'}`);
    });
  }
});

/** The values of a member in every schema of a kind, wherever it is. */
function everywhere(schema: Structural, pick: (schema: Structural) => string[]): string[] {
  const inner = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return [...pick(schema), ...inner.flatMap((member) => (member ? everywhere(member, pick) : []))];
}

suite('coverage', () => {
  const served = KINDS.filter(({ install }) => install !== 'never');
  const refusals = cases.flatMap(({ expected }) => (expected ? [expected] : []));

  test('every rule refuses a case', () => {
    const messages = served.flatMap((kind) =>
      everywhere(kind.structural(), (schema) =>
        (schema['x-kubernetes-validations'] ?? [])
          // What is about a change no case can show: test/integration/resources makes the change.
          .filter(({ rule }) => !rule.includes('oldSelf'))
          .map(({ message }) => message),
      ),
    );
    const missing = new Set(
      messages.filter((message) => !refusals.some(({ server }) => message.includes(server))),
    );
    assert.deepEqual([...missing], []);
  });

  test('every choice of values refuses a case', () => {
    const choices = served.flatMap((kind) =>
      everywhere(kind.structural().properties?.['spec'] ?? {}, (schema) =>
        schema.enum ? [schema.enum.map((value) => JSON.stringify(value)).join(', ')] : [],
      ),
    );
    const missing = new Set(
      choices.filter((values) => !refusals.some(({ file }) => file.includes(`${values}, not`))),
    );
    assert.deepEqual([...missing], []);
  });
});
