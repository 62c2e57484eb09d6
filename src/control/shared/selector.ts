import { isJsonObject } from '../../kube/json.ts';

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** Whether a Kubernetes label selector takes these labels. An empty one takes all, none at all takes nothing. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  if (!isJsonObject(selector)) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector as {
    matchLabels?: Record<string, string>;
    matchExpressions?: Requirement[];
  };
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
