/** Templates of the chart: YAML of objects that were made with placeholders for values. */
import { stringify } from 'yaml';
import { OPERATOR_ROADS } from '../../src/control/roads.ts';
import type { OperatorRoad } from '../../src/control/roads.ts';
import type { PolicyRule } from '../../src/control/kernel/rights.ts';
import { VALUES } from './values.ts';
import type { Form } from './values.ts';

/** Stands for a value in an object, until it is a template. */
export const placeholder = (name: string): string => `@${name}@`;

/** What stands for things that are no values of the chart. */
const BUILT_IN: Readonly<Record<string, string>> = {
  namespace: '{{ $.Release.Namespace }}',
  watched: '{{ $watched }}',
};

/** Objects as a template. */
export function templateOf(objects: readonly object[]): string {
  const text = objects.map((one) => `---\n${yaml(one)}`).join('');
  if (text.includes('{{')) throw new Error('an object has {{ in it, which Helm would take for its own');
  const named = text.replaceAll(/@(namespace|watched)@/g, (_, name: string) => BUILT_IN[name]!);
  return named.replaceAll(/^( *)(- |[\w]+: )"?(.*)@(\w+)@(.*?)"?$/gm, (_, ...found: string[]) =>
    lineOf({ indent: found[0]!, lead: found[1]!, before: found[2]!, name: found[3]! }),
  );
}

const yaml = (one: object) => stringify(one, { aliasDuplicateObjects: false, lineWidth: 0 });

/** Where a value stands: after what of its line, and where it is found. */
interface Line {
  indent: string;
  lead: string;
  before: string;
  name: string;
}

/** A line with one value in it, which may be there or not. */
function lineOf(line: Line): string {
  const value = VALUES[line.name];
  if (!value) throw new Error(`the chart has no value ${line.name}`);
  return LINES[value.form](line);
}

const at = ({ name }: Line) => `$.Values.${name}`;
const start = ({ indent, lead }: Line) => indent + lead;
const given = (line: Line, text: string) => `{{- with ${at(line)} }}\n${text}\n{{- end }}`;
const printed = (line: Line, what: string) =>
  `${start(line)}{{ ${line.before === '' ? what : `printf "${line.before}%s" (${what})`} | quote }}`;

const LINES: Record<Form, (line: Line) => string> = {
  text: (line) => printed(line, at(line)),
  count: (line) => `${start(line)}{{ ${at(line)} }}`,
  optional: (line) => given(line, printed(line, '.')),
  list: (line) => given(line, printed(line, 'join "," .')),
  images: (line) =>
    `{{- range $version, $image := ${at(line)} }}\n${start(line)}{{ printf "${line.before}%s=%s" $version $image | quote }}\n{{- end }}`,
  yaml: (line) =>
    given(line, `${start(line).trimEnd()}\n{{- toYaml . | nindent ${line.indent.length + 2} }}`),
  choice: ({ name }) => {
    throw new Error(`${name} stands in no line`);
  },
};

/** A part of a template for installations that serve any of these roads. */
export function forRoads(roads: readonly OperatorRoad[], text: string): string {
  if (roads.length === OPERATOR_ROADS.length) return text;
  if (roads.length === 0) return '';
  return `{{- if ${anyOf(roads)} }}\n${text}{{- end }}\n`;
}

const anyOf = (roads: readonly OperatorRoad[]) =>
  `or ${roads.map((road) => `(has "${road}" $.Values.roads)`).join(' ')}`;

/** A part of a template by just which of these roads are served; none where none of them is. */
export function byRoads(
  roads: readonly OperatorRoad[],
  make: (served: OperatorRoad[]) => readonly object[],
): string {
  const subsets = roads.reduce<OperatorRoad[][]>(
    (all, road) => [...all, ...all.map((one) => [...one, road])],
    [[]],
  );
  const served = subsets.filter((one) => one.length > 0).toSorted((a, b) => b.length - a.length);
  const branches = served.map((one, at) => {
    const condition = `and ${one.map((road) => `(has "${road}" $.Values.roads)`).join(' ')}`;
    return `{{- ${at === 0 ? 'if' : 'else if'} ${condition} }}\n${templateOf(make(one))}`;
  });
  return `${branches.join('')}{{- end }}\n`;
}

/** The roads that grant something by these rules. */
export const roadsWith = (make: (roads: OperatorRoad[]) => readonly PolicyRule[]): OperatorRoad[] =>
  OPERATOR_ROADS.filter((road) => make([road]).length > 0);

/** The rules of a role, each for the roads that need it. */
export function rulesTemplate(make: (roads: OperatorRoad[]) => readonly PolicyRule[]): string {
  const needed = new Map<string, OperatorRoad[]>();
  for (const road of OPERATOR_ROADS)
    for (const right of make([road]).flatMap(rightsIn))
      needed.set(right, [...(needed.get(right) ?? []), road]);
  const groups = Map.groupBy(needed.keys(), (right) => needed.get(right)!.join());
  return [...groups]
    .map(([roads, rights]) => forRoads(roads.split(',') as OperatorRoad[], listOf(rulesFrom(rights))))
    .join('');
}

/** Each right of a rule as a text, so that rules can be compared. */
export function rightsIn({ apiGroups, resources, verbs, resourceNames = [] }: PolicyRule): string[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => JSON.stringify([group, resource, resourceNames, verb])),
    ),
  );
}

function rulesFrom(rights: readonly string[]): PolicyRule[] {
  const parsed = rights.map((right) => JSON.parse(right) as [string, string, string[], string]);
  const byResource = Map.groupBy(parsed, ([group, resource, names]) =>
    JSON.stringify([group, resource, names]),
  );
  const entries = [...byResource.values()].map((all) => ({
    first: all[0]!,
    verbs: all.map(([, , , verb]) => verb),
  }));
  const alike = Map.groupBy(entries, ({ first, verbs }) => JSON.stringify([first[0], first[2], verbs]));
  return [...alike.values()].map((all) => {
    const [group, , resourceNames] = all[0]!.first;
    return {
      apiGroups: [group],
      resources: all.map(({ first }) => first[1]),
      ...(resourceNames.length > 0 && { resourceNames }),
      verbs: all[0]!.verbs,
    };
  });
}

const listOf = (rules: readonly object[]) => yaml(rules).replaceAll(/^/gm, '  ').replace(/ {2}$/, '');
