/** What the console shows of a cluster. It follows these kinds and no others, and its rights are made from them: no Secret, no ConfigMap. */
import { KINDS } from '../../resources/registry.ts';
import { CLUSTER_LABEL as KAFKA_LABEL } from '../brokers/model/names.ts';
import type { Right } from '../kernel/rights.ts';
import { PROXY_LABEL } from '../proxy/names.ts';

export interface ShownKind {
  group: string;
  kind: string;
  plural: string;
  versions: readonly string[];
  scope: 'Namespaced' | 'Cluster';
  /** Only those with one of these labels; undefined is all of the kind. */
  labels?: readonly string[];
}

const builtIn = (group: string, kind: string, plural: string): ShownKind => ({
  group,
  kind,
  plural,
  versions: ['v1'],
  scope: 'Namespaced',
});

/** Of Kubernetes' own kinds only what our operator has made. */
const made = [PROXY_LABEL, KAFKA_LABEL];

export const SHOWN_KINDS: readonly ShownKind[] = [
  ...KINDS,
  { ...builtIn('apps', 'Deployment', 'deployments'), labels: made },
  { ...builtIn('', 'Pod', 'pods'), labels: made },
  { ...builtIn('', 'Service', 'services'), labels: made },
];

export const SHOWN_EVENTS: ShownKind = builtIn('events.k8s.io', 'Event', 'events');

/** To follow all of it. */
export const SHOWN_RIGHTS: readonly Right[] = [...SHOWN_KINDS, SHOWN_EVENTS].map(
  ({ group, plural, scope }) => ({ group, resource: plural, verbs: ['list', 'watch'], scope }),
);
