/** Probes from another cluster: has a pod do it there, takes its answer from the pod's status, and removes it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { OPERATOR_NAME } from '../../control/install/objects.ts';
import { probePodState } from '../../control/shared/probe-pod.ts';
import type { ProbePodEnd } from '../../control/shared/probe-pod.ts';
import type { Client } from '../../kube/http/client.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { ProbedCluster } from '../../probe/probed.ts';
import { withClient } from '../kube/connect.ts';
import { unpackReport } from './report.ts';
import { vantagePod, vantageSecret } from './vantage.ts';
import type { Vantage } from './vantage.ts';

const POD = { group: '', version: 'v1', kind: 'Pod' };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const EVERY_MS = 500;
/** Beyond the probe itself: a node is found, an image is fetched. */
const START_MS = 180_000;

export async function probeFrom({
  bootstrap,
  flags,
  files,
}: Pick<Vantage, 'bootstrap' | 'flags' | 'files'>): Promise<ProbedCluster> {
  const { kubeconfig, from: context, fromNamespace: namespace } = flags;
  return withClient(
    { ...(kubeconfig !== undefined && { kubeconfig }), context: context! },
    async (client) => {
      const image = flags.image ?? (await imageThere(client, namespace));
      const name = `isthmus-probe-${randomBytes(4).toString('hex')}`;
      return probeByPod(client, { name, namespace, image, bootstrap, flags, files });
    },
  );
}

/** That of the operator, or of the pod-set controller that a join has installed: nodes have it already. */
async function imageThere(client: Client, namespace: string): Promise<string> {
  const found = await client.get(DEPLOYMENT, { namespace, name: OPERATOR_NAME });
  const { template } = (found?.['spec'] ?? {}) as {
    template?: { spec?: { containers?: { image?: string }[] } };
  };
  const image = template?.spec?.containers?.[0]?.image;
  if (image !== undefined) return image;
  const where = `there is no ${OPERATOR_NAME} in the namespace ${namespace} of that cluster`;
  throw new IsthmusError('USAGE', `${where}; say by --image which image to run`);
}

async function probeByPod(client: Client, vantage: Vantage): Promise<ProbedCluster> {
  const { name, namespace, flags } = vantage;
  const pod = await client.create(vantagePod(vantage));
  try {
    const secret = vantageSecret(vantage, pod);
    if (secret) await client.create(secret);
    const { message, code } = await endOf(client, vantage, Date.now() + START_MS + 4 * flags.timeout * 1000);
    const probed = unpackReport(message);
    if (probed) return probed;
    throw new IsthmusError('CLUSTER_REFUSED', `the probe there has failed (${code}): ${message}`);
  } finally {
    await client.delete(POD, { namespace, name }, { uid: pod.metadata.uid });
  }
}

async function endOf(client: Client, { name, namespace }: Vantage, until: number): Promise<ProbePodEnd> {
  for (;;) {
    const state = probePodState(await client.get(POD, { namespace, name }));
    if (state.isOver) return state;
    if (Date.now() > until)
      throw new IsthmusError('CLUSTER_REFUSED', `the pod of the probe there does not come to an end: ${state.why}`); // prettier-ignore
    await pause(EVERY_MS);
  }
}
