/** Reads from a cluster what of Isthmus runs in it. */
import { VERSION_LABEL } from '../../control/shared/version-label.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { valuesOf } from '../check/gather.ts';
import { listOf, settle } from '../kube/read.ts';
import type { Program, Seen, Workload } from './versions.ts';

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

/** The workloads of a namespace, or of all; and whoever else may be their operator, as far as one may look there. */
export async function readWorkloads(client: Client, namespace: string | undefined): Promise<Seen> {
  const options = { labelSelector: OURS };
  const there = { ...options, namespace };
  const everywhere = await settle(listOf(client, DEPLOYMENT, options));
  const isWhole = 'value' in everywhere;
  // Without a namespace this asks the same once more, and says why it may not.
  const deployments = (isWhole ? everywhere.value : await listOf(client, DEPLOYMENT, there)) as Deployment[];
  const pods = ((await listOf(client, POD, there)) as Pod[]).filter(isThere);
  const all = deployments.map((deployment) => workloadOf(deployment, pods));
  const workloads = all.filter((each) => namespace === undefined || each.namespace === namespace);
  return { workloads, all, isWhole };
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
