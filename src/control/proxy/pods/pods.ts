/** Talks to the pods of a proxy: which configuration they serve, and that there is a newer one. */
import type { Client } from '../../../kube/http/client.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { AskPod, PodAccess, PodAnswer } from './pod-client.ts';
import { CONFIG_ANNOTATION } from '../names.ts';
import type { PodAnswers } from '../observe.ts';

const POD = { group: '', version: 'v1', kind: 'Pod' };
/** The kubelet may have looked before it knew of the new Secret; told again, it looks again. */
const NUDGE_AGAIN_MS = 10_000;
const MAX_PODS = 10_000;

export interface PodClient {
  /** `access` is that to their management port; undefined before there is any. */
  ask(pods: readonly AnyObject[], access: PodAccess | undefined, signal: AbortSignal): Promise<PodAnswers>;
  /** Makes the kubelets of pods that lag behind refresh the volume now, instead of within a minute or two. */
  nudge(pods: readonly AnyObject[], hash: string, answers: PodAnswers, signal: AbortSignal): Promise<Nudged>;
}

/** How many pods were told, and why another could not be: no reason to tell the rest nothing, or nobody of what is known. */
export interface Nudged {
  told: number;
  failure?: unknown;
}

export function createPodClient(client: () => Client, ask: AskPod, now: () => number): PodClient {
  const nudged = new BoundedMap<string, { hash: string; at: number; times: number }>(MAX_PODS);

  async function annotate({ metadata }: AnyObject, hash: string, signal: AbortSignal): Promise<boolean> {
    const uid = metadata.uid ?? '';
    const before = nudged.get(uid);
    const isSame = before?.hash === hash;
    const isTold = metadata.annotations?.[CONFIG_ANNOTATION]?.startsWith(hash) ?? false;
    if (isSame ? now() - before.at < NUDGE_AGAIN_MS : isTold) {
      if (!isSame) nudged.set(uid, { hash, at: now(), times: 0 });
      return false;
    }
    const times = isSame ? before.times + 1 : 0;
    nudged.set(uid, { hash, at: now(), times });
    const value = times === 0 ? hash : `${hash}.${times}`;
    const patch = { metadata: { annotations: { [CONFIG_ANNOTATION]: value } } };
    try {
      await client().mergePatch(POD, metadata, patch, { signal });
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }

  return {
    async ask(pods, access, signal) {
      const answers = await Promise.all(
        pods.map(async ({ metadata, status }) => {
          const { podIP, phase } = (status ?? {}) as { podIP?: string; phase?: string };
          const answer = podIP !== undefined && phase === 'Running' ? await ask(podIP, access, signal) : {};
          return [metadata.name, answerOf(answer)] as const;
        }),
      );
      return new Map(answers);
    },
    async nudge(pods, hash, answers, signal) {
      const nudged: Nudged = { told: 0 };
      for (const pod of pods) {
        const { configVersion } = answers.get(pod.metadata.name) ?? {};
        if (configVersion === undefined || configVersion === hash) continue;
        try {
          if (await annotate(pod, hash, signal)) nudged.told += 1;
        } catch (failure) {
          nudged.failure ??= failure;
        }
      }
      return nudged;
    },
  };
}

function answerOf({ hash, error, problems, nodeIds, unreachable }: PodAnswer) {
  return {
    ...(hash !== undefined && { configVersion: hash }),
    ...(error !== undefined && { refusal: error }),
    ...(problems && { problems }),
    ...(unreachable !== undefined && { unreachable }),
    ...(nodeIds && { nodeIds }),
  };
}
