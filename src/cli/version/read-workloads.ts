/** Reads from a cluster what of Isthmus runs in it. */
import { VERSION_LABEL } from '../../control/shared/version-label.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { valuesOf } from '../check/gather.ts';
import { listOf } from '../kube/read.ts';
import type { Program, Workload } from './versions.ts';

const DEPLOYMENT = { group: 'apps', kind: 'Deployment', versions: ['v1'] };
const POD = { group: '', kind: 'Pod', versions: ['v1'] };
/** All that this project makes pods of has these, but brokers, which are Kafka. */
const OURS = 'app.kubernetes.io/name=isthmus';
const COMPONENT = 'app.kubernetes.io/component';

interface PodTemplate {
  metadata?: { labels?: Record<string, string> };
  spec: { containers: { name: string; image?: string; args?: string[] }[] };
}

interface Deployment extends AnyObject {
  spec: { paused?: boolean; selector: { matchLabels?: Record<string, string> }; template: PodTemplate };
  status?: { conditions?: { type: string; status: string }[] };
}

type Pod = AnyObject & PodTemplate & { status?: { phase?: string } };

export async function readWorkloads(client: Client, namespace: string | undefined): Promise<Workload[]> {
  const options = { namespace, labelSelector: OURS };
  const deployments = (await listOf(client, DEPLOYMENT, options)) as Deployment[];
  const pods = ((await listOf(client, POD, options)) as Pod[]).filter(isThere);
  return deployments.map((deployment) => workloadOf(deployment, pods));
}

/** One that ends, or has ended, says nothing about what is to come. */
const isThere = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed'].includes(status?.phase ?? '');

function workloadOf({ metadata, spec, status }: Deployment, pods: readonly Pod[]): Workload {
  const { namespace = '', name, labels = {} } = metadata;
  const component = labels[COMPONENT] ?? '';
  const selected = Object.entries(spec.selector.matchLabels ?? {});
  const args = containerOf(spec.template, component)?.args ?? [];
  const own = pods.filter(
    (pod) =>
      pod.metadata.namespace === namespace &&
      selected.every(([label, value]) => pod.metadata.labels?.[label] === value),
  );
  return {
    namespace,
    name,
    component,
    ...programOf(spec.template, component),
    roads: valuesOf(args, '--roads'),
    watchNamespaces: valuesOf(args, '--watch-namespaces'),
    isPaused: spec.paused ?? false,
    isStuck: (status?.conditions ?? []).some(
      ({ type, status: is }) => type === 'Progressing' && is === 'False',
    ),
    pods: own.map((pod) => ({ name: pod.metadata.name, ...programOf(pod, component) })),
  };
}

/** Ours is named like its part; others may have been put beside it. */
const containerOf = ({ spec: { containers } }: PodTemplate, component: string) =>
  containers.find(({ name }) => name === component) ?? containers[0];

const programOf = (template: PodTemplate, component: string): Program => ({
  image: containerOf(template, component)?.image ?? '',
  version: template.metadata?.labels?.[VERSION_LABEL],
});
