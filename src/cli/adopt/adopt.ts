/** Takes one step of an adoption after the other, until it is over, or goes on without anybody. */
import { setTimeout as delay } from 'node:timers/promises';
import { ADOPT_ANNOTATION } from '../../control/brokers/stretch/adoption.ts';
import { read } from '../../control/kernel/read.ts';
import { clusterOf, kubeconfigOf, roadsOf } from '../../control/targets/joined-secret.ts';
import { CLUSTER_LABEL } from '../../control/targets/names.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import { typeOf } from '../../kube/object.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { withJoined } from '../join/joined-client.ts';
import { findIfThere } from '../kube/find.ts';
import { nextAdoption } from './next-adoption.ts';
import type { AdoptionSight, Joined } from './next-adoption.ts';

export interface AdoptRequest {
  name: string;
  namespace: string;
  /** Where the kubeconfigs of joined clusters are. */
  home: string;
  /** Whether it ends only when everything has keys of this cluster. */
  wait: boolean;
  timeoutMs: number;
  dryRun: boolean;
}

export interface AdoptResult {
  /** `adopting`: the operator has it, and does the rest; `asked`: it has not begun. */
  state: 'adopted' | 'adopting' | 'asked' | 'planned';
  /** What is left to do, for people. */
  progress: string;
}

const POLL_MS = 1000;
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

export async function runAdopt(
  request: AdoptRequest,
  client: Client,
  say: (text: string) => void,
): Promise<AdoptResult> {
  const { name, wait, dryRun } = request;
  const end = Date.now() + request.timeoutMs;
  let told = '';
  for (;;) {
    const sight = await look(request, client);
    const step = nextAdoption(name, sight);
    if (step.do === 'refuse') throw new IsthmusError('CANNOT_ADOPT', step.why);
    if (step.do === 'done') return { state: 'adopted', progress: '' };
    const { progress } = step;
    if (dryRun) return { state: 'planned', progress };
    if (progress !== told) say(progress);
    told = progress;
    if (step.do === 'annotate') {
      const metadata = { annotations: { [ADOPT_ANNOTATION]: step.clusterId } };
      await client.mergePatch(typeOf(sight.kafka!), sight.kafka!.metadata, { metadata });
      continue;
    }
    if ((sight.anchor && !wait) || Date.now() >= end)
      return { state: sight.anchor ? 'adopting' : 'asked', progress };
    await delay(POLL_MS);
  }
}

async function look(request: AdoptRequest, client: Client): Promise<AdoptionSight> {
  const [found, anchor] = await Promise.all([findIfThere(client, kafka, request), anchorIn(client, request)]);
  const joined = !found || anchor ? [] : await lookElsewhere(request, client);
  return { kafka: found, anchor, joined };
}

async function anchorIn(client: Client, name: AdoptRequest): Promise<KafkaAnchor | undefined> {
  const found = await findIfThere(client, kafkaAnchor, name);
  return found && read(kafkaAnchor, found).resource;
}

async function lookElsewhere(request: AdoptRequest, client: Client): Promise<Joined[]> {
  const { items } = await client.list<Secret>(SECRET, { namespace: request.home, labelSelector: CLUSTER_LABEL }); // prettier-ignore
  return Promise.all(
    items
      .filter((secret) => roadsOf(secret).includes('stretch'))
      .map(async (secret): Promise<Joined> => {
        const cluster = clusterOf(secret) ?? secret.metadata.name;
        try {
          return { cluster, anchor: await withJoined(kubeconfigOf(secret), (one) => anchorIn(one, request)) };
        } catch (error) {
          return { cluster, problem: messageOf(error) };
        }
      }),
  );
}
