/** Takes one step of a move after the other, until it is over, or goes on without anybody. */
import { setTimeout as delay } from 'node:timers/promises';
import { read } from '../../control/kernel/read.ts';
import { hasStatus } from '../../kube/http/errors.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { findIfThere } from '../kube/find.ts';
import { servedType } from '../kube/read.ts';
import { MOVED_TO, REPLICAS_BEFORE, nextMove } from './next-move.ts';
import type { MoveSight, MoveStep, MoveWish } from './next-move.ts';

export interface MoveRequest extends MoveWish {
  namespace: string;
  /** Whether it ends only when the former pool is gone. */
  wait: boolean;
  timeoutMs: number;
  dryRun: boolean;
}

export interface MoveResult {
  /** `moving`: the operator does the rest; the former pool stays as an empty one. */
  state: 'moved' | 'moving' | 'planned';
  /** What is left to do, for people. */
  progress: string;
}

const POLL_MS = 1000;

export async function runMove(
  request: MoveRequest,
  client: Client,
  say: (text: string) => void,
): Promise<MoveResult> {
  const end = Date.now() + request.timeoutMs;
  let told = '';
  const tell = (text: string) => {
    if (text !== told) say(text);
    told = text;
  };
  for (;;) {
    const sight = await look(request, client);
    const step = nextMove(request, sight);
    if (step.do === 'refuse') throw refusal(step.why);
    if (step.do === 'done') return { state: 'moved', progress: '' };
    const progress = step.do === 'wait' ? step.progress : doing(step, request);
    if (request.dryRun) return { state: 'planned', progress };
    tell(progress);
    await carryOut(step, request, sight, client);
    if (step.do === 'undo') throw refusal(step.why);
    if (step.do !== 'wait') continue;
    const isBegun = sight.pool?.read.spec.replicas === 0;
    if ((isBegun && !request.wait) || Date.now() >= end) return { state: 'moving', progress };
    await delay(POLL_MS);
  }
}

const refusal = (why: string) => new IsthmusError('CANNOT_MOVE', why);

async function look({ name, namespace, successor }: MoveRequest, client: Client): Promise<MoveSight> {
  const find = (kind: typeof kafkaNodePool | typeof kafka | typeof kafkaAnchor, of: string) =>
    findIfThere(client, kind, { namespace, name: of });
  const [object, other] = await Promise.all([find(kafkaNodePool, name), find(kafkaNodePool, successor)]);
  const poolOf = (found: AnyObject) => {
    const { resource, problem } = read(kafkaNodePool, found);
    if (!resource) throw refusal(`KafkaNodePool ${found.metadata.name} cannot be read: ${problem}`);
    return resource;
  };
  const home = (object ?? other)?.metadata.labels?.['strimzi.io/cluster'] ?? '';
  const [cluster, anchor] =
    home === '' ? [] : await Promise.all([find(kafka, home), find(kafkaAnchor, home)]);
  return {
    pool: object && { object, read: poolOf(object) },
    successor: other && poolOf(other),
    kafka: cluster,
    anchor: anchor && read(kafkaAnchor, anchor).resource,
  };
}

function doing(
  step: Exclude<MoveStep, { do: 'wait' | 'refuse' | 'done' }>,
  { name, successor, to }: MoveRequest,
): string {
  if (step.do === 'create') return `KafkaNodePool ${successor} is made, in ${to}`;
  if (step.do === 'undo') return `KafkaNodePool ${successor} is taken back: the operator does not accept it`;
  if (step.do === 'empty') return `KafkaNodePool ${name} is to have no nodes`;
  return `KafkaNodePool ${name} has no nodes any more, and is deleted`;
}

/** Nothing is written over what somebody else has changed since it was read. */
async function carryOut(
  step: MoveStep,
  request: MoveRequest,
  sight: MoveSight,
  client: Client,
): Promise<void> {
  const { name, namespace, successor } = request;
  const type = (await servedType(client, kafkaNodePool)) as ResourceType;
  const pool = sight.pool?.object.metadata;
  try {
    if (step.do === 'create') await client.create(step.object);
    else if (step.do === 'undo')
      await client.delete(type, { name: successor, namespace }, { uid: sight.successor?.metadata.uid ?? '' });
    else if (step.do === 'empty') {
      const annotations = {
        [MOVED_TO]: successor,
        [REPLICAS_BEFORE]: String(sight.pool?.read.spec.replicas),
      };
      const metadata = { resourceVersion: pool?.resourceVersion, annotations };
      await client.mergePatch(type, { name, namespace }, { metadata, spec: { replicas: 0 } });
    } else if (step.do === 'delete') await client.delete(type, { name, namespace }, { uid: pool?.uid ?? '' });
  } catch (error) {
    // It is looked at again.
    if (!hasStatus(error, 409) && !hasStatus(error, 404)) throw error;
  }
}
