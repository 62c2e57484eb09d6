/** How long it takes until a cluster serves: by the operator, and by hand from the manifests that it would have made. */
import type { AnyObject } from '../../src/kube/object.ts';
import { waitFor } from '../../src/store/embedded/process.ts';
import { PATIENCE } from './bed.ts';
import type { Bed } from './bed.ts';
import { NAME, NODES, POD_SET, WISH, answers, podOf } from './cluster.ts';
import { manifestsOf } from './manifests.ts';

export const KAFKA = { group: 'kafka.strimzi.io', version: 'v1', kind: 'Kafka' };
const POD = { group: '', version: 'v1', kind: 'Pod' };
const MADE =
  'serviceaccounts,networkpolicies,poddisruptionbudgets,secrets,configmaps,services,persistentvolumeclaims,strimzipodsets';

export interface WithStatus extends AnyObject {
  status?: {
    observedGeneration?: number;
    conditions?: { type: string; status: string; reason?: string }[];
  };
}

const isTrue = (status: WithStatus['status']) =>
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;

/** Whether a resource says that it is ready, for the spec that it has now. */
export const isReady = ({ metadata, status }: WithStatus): boolean =>
  isTrue(status) && status?.observedGeneration === metadata.generation;

export async function untilReady({ cluster: { client } }: Bed): Promise<void> {
  const ready = async () => {
    const found = await client.get<WithStatus>(KAFKA, { namespace: 'default', name: NAME });
    return found !== undefined && isReady(found);
  };
  await waitFor(`Kafka ${NAME} is ready`, ready, PATIENCE);
}

/** The uid of a node's pod if it is ready. */
export async function readyPod({ cluster: { client } }: Bed, id: number): Promise<string | undefined> {
  const pod = await client.get<WithStatus>(POD, { namespace: 'default', name: podOf(id) });
  const lives = pod?.metadata.deletionTimestamp === undefined && isTrue(pod?.status);
  return lives ? pod?.metadata.uid : undefined;
}

const seconds = (since: number) => (performance.now() - since) / 1000;

/** Starts the operator, has it make the cluster, and leaves both running. Returns seconds. */
export async function byOperator(bed: Bed): Promise<number> {
  await bed.startOperator();
  const started = performance.now();
  await bed.apply(WISH);
  await untilReady(bed);
  return seconds(started);
}

/** Applies what is written down; nobody else is there. Returns seconds. */
export async function byHand(bed: Bed, manifests: readonly AnyObject[]): Promise<number> {
  const started = performance.now();
  await bed.apply(manifests);
  const serves = async () => {
    for (const id of NODES) if ((await readyPod(bed, id)) === undefined) return false;
    return answers(bed.runner);
  };
  await waitFor('the cluster by hand serves', serves, PATIENCE);
  return seconds(started);
}

/** What the operator makes of the wish, from before any disk was formatted: later it would not permit that any more. */
export async function capture(bed: Bed): Promise<AnyObject[]> {
  await bed.startOperator();
  await bed.apply(WISH);
  const isMade = async () => {
    const { stdout } = await bed.kubectl('get', 'pods', '-l', `strimzi.io/cluster=${NAME}`, '-o', 'name');
    return stdout.trim().split('\n').filter(Boolean).length === NODES.length;
  };
  await waitFor(`the pods of ${POD_SET}`, isMade, PATIENCE);
  const selector = `strimzi.io/cluster=${NAME}`;
  const { stdout } = await bed.kubectl('get', MADE, '-l', selector, '-o', 'json');
  const manifests = manifestsOf((JSON.parse(stdout) as { items: AnyObject[] }).items);
  await untilReady(bed);
  return manifests;
}

/** Ends a round: nothing of it is left. */
export async function over(bed: Bed): Promise<void> {
  await bed.stopOperator();
  await bed.clear();
}
