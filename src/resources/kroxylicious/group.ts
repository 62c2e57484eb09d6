/** What the kinds of the proxy road have in common. */
import type { Column, Install, Road } from '../kind.ts';
import { refTo } from '../common/refs.ts';

export const KROXYLICIOUS = 'kroxylicious.io';
export const KROXYLICIOUS_FILTER = 'filter.kroxylicious.io';

export const ours = {
  versions: ['v1alpha1'],
  categories: ['kroxylicious', 'isthmus'],
  roads: ['proxy'],
  install: 'default',
} as const satisfies {
  versions: readonly string[];
  categories: readonly string[];
  roads: Road[];
  install: Install;
};

/** The proxy that an ingress or a virtual cluster belongs to. */
export const proxyRef = refTo('KafkaProxy', KROXYLICIOUS);

/** A column that shows the status of a condition. */
export function conditionColumn(type: string, description: string): Column {
  return {
    name: type,
    type: 'string',
    jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
    description,
  };
}

export const proxyColumn: Column = {
  name: 'Proxy',
  type: 'string',
  jsonPath: '.spec.proxyRef.name',
  description: 'The KafkaProxy it belongs to.',
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'How long it has been there.',
};
