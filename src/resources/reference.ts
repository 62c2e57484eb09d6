/** The reference page of all kinds, from their schemas. */
import type { Kind } from './kind.ts';
import { KINDS } from './registry.ts';
import type { Structural } from './structural.ts';

interface Row {
  field: string;
  type: string;
  fallback: string;
  description: string;
}

/** docs/reference/resources.md. */
export function referencePage(): string {
  const described = KINDS.filter(({ install }) => install !== 'never');
  const read = KINDS.filter(({ install }) => install === 'never');
  return [
    '# Resources',
    '',
    '<!-- Generated from src/resources by `npm run generate`; edit there. -->',
    '',
    'Every kind that Isthmus serves, field by field. `kubectl explain` shows the same.',
    'A field marked * is required. `…` after a type means that fields which are not listed are kept as they are.',
    'A condition has a `type`, a `status` (True, False or Unknown), a `reason` for programs, a `message` for people, the',
    '`observedGeneration` it is about, and the `lastTransitionTime` of its status.',
    '',
    ...described.map(
      (kind) => `- [${kind.kind}](#${kind.kind.toLowerCase()}) (${kind.group}): ${kind.description}`,
    ),
    '',
    'Only read, and defined by the projects they belong to:',
    `${read.map(({ kind, group }) => `${kind} (${group})`).join(', ')}.`,
    '',
    ...described.flatMap(section),
  ].join('\n');
}

function section(kind: Kind): string[] {
  const schema = kind.structural();
  const refusals = rulesOf(schema, '');
  return [
    `## ${kind.kind}`,
    '',
    kind.description,
    '',
    `\`apiVersion: ${kind.versions.map((version) => `${kind.group}/${version}`).join('` or `')}\`, \`kubectl get ${kind.shortNames[0] ?? kind.plural}\``,
    '',
    ...table('spec', schema),
    ...table('status', schema),
    ...(refusals.length > 0 ? ['Refused when it is applied:', '', ...refusals, ''] : []),
  ];
}

function table(member: 'spec' | 'status', schema: Structural): string[] {
  const part = schema.properties?.[member];
  const rows = part ? rowsOf(part, member) : [];
  if (rows.length === 0) return [];
  return [
    '| field | type | default | |',
    '|---|---|---|---|',
    ...rows.map(
      ({ field, type, fallback, description }) => `| ${field} | ${type} | ${fallback} | ${description} |`,
    ),
    '',
  ];
}

/** A row for each member, parents before their members. */
function rowsOf(schema: Structural, path: string): Row[] {
  const members = Object.entries(schema.properties ?? {});
  return members.flatMap(([name, member]) => {
    const required = schema.required?.includes(name) ? '*' : '';
    const inner = member.items ? `${path}.${name}[]` : `${path}.${name}`;
    return [
      {
        field: `\`${path}.${name}\`${required}`,
        type: name === 'conditions' ? 'list of conditions' : typeText(member),
        fallback:
          member.default === undefined || isEmpty(member.default)
            ? ''
            : `\`${JSON.stringify(member.default)}\``,
        description: cell(member.description ?? ''),
      },
      // Every status has conditions; they are explained once.
      ...(name === 'conditions' ? [] : rowsOf(member.items ?? member, inner)),
    ];
  });
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

function typeText(schema: Structural): string {
  if (schema['x-kubernetes-int-or-string']) return 'amount';
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.type === 'array') return schema.items ? `list of ${typeText(schema.items)}` : 'list';
  if (schema.additionalProperties) return `mapping to ${typeText(schema.additionalProperties)}`;
  if (schema.pattern !== undefined) return 'string';
  if (schema['x-kubernetes-preserve-unknown-fields']) return schema.properties ? 'mapping …' : 'anything';
  if (schema.type === 'object') return 'mapping';
  const { minimum, maximum } = schema;
  const bounds = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  return `${schema.type ?? ''}${bounds}`;
}

/** Everything that a rule refuses, with where. */
function rulesOf(schema: Structural, path: string): string[] {
  const here = (schema['x-kubernetes-validations'] ?? []).map(
    ({ message, fieldPath = '' }) => `- \`${path + fieldPath || 'the resource'}\`: ${cell(message)}`,
  );
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    rulesOf(member, path === '' ? name : `${path}.${name}`),
  );
  const items = schema.items ? rulesOf(schema.items, `${path}[]`) : [];
  return [...here, ...members, ...items];
}

const cell = (text: string) => text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
