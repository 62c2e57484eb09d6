import { isJsonObject } from '../../kube/json.ts';

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: Requirement[];
}

/** Whether a Kubernetes label selector takes these labels. An empty one takes all, none at all takes nothing. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isJsonObject(selector)) return false;
  const { matchLabels = {}, matchExpressions = [] }: Selector = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key]))
  );
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'In') return value !== undefined && values.includes(value);
  return operator === 'NotIn' && (value === undefined || !values.includes(value));
}

/** The labels that a selector asks for by value. */
export function labelsOf(selector: unknown): Readonly<Record<string, string>> {
  return isJsonObject(selector) ? ((selector as Selector).matchLabels ?? {}) : {};
}

/** A selector as kubectl takes it: `team=a,tier in (x,y),!old`. */
export function selectorText(selector: unknown): string {
  const { matchLabels = {}, matchExpressions = [] }: Selector = isJsonObject(selector) ? selector : {};
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}
