/** What platform teams say of the pods of a proxy, in the words of a pod's own fields. */
import { z } from 'zod';
import { objectName } from '../common/names.ts';
import { text } from '../schema.ts';

const atomic = { 'x-kubernetes-list-type': 'atomic' };

const toleration = z.object({
  key: text(317).describe('The taint; any if left out.').exactOptional(),
  operator: z.enum(['Exists', 'Equal']).describe('Equal if left out.').exactOptional(),
  value: z.string().max(63).describe('The value of the taint, for Equal.').exactOptional(),
  effect: z
    .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    .describe('All effects if left out.')
    .exactOptional(),
  tolerationSeconds: z.int().describe('For how long, with NoExecute; for ever if left out.').exactOptional(),
});

/** Of kinds that Kubernetes changes with its versions: it says itself what is wrong with them. */
const ofKubernetes = z.record(z.string(), z.unknown());

const pod = z.object({
  imagePullSecrets: z
    .array(z.object({ name: objectName.describe('The Secret.') }))
    .max(16)
    .meta(atomic)
    .describe('Secrets that the image is pulled with, in the namespace of this resource.')
    .exactOptional(),
  nodeSelector: z
    .record(z.string(), z.string().max(63))
    .describe('Labels of the nodes that pods may run on.')
    .exactOptional(),
  tolerations: z
    .array(toleration)
    .max(64)
    .meta(atomic)
    .describe('Taints of nodes that they may run on all the same.')
    .exactOptional(),
  affinity: ofKubernetes
    .describe('Which nodes and neighbours they rather have; instead of keeping pods in different zones.')
    .exactOptional(),
  topologySpreadConstraints: z
    .array(ofKubernetes)
    .max(16)
    .meta(atomic)
    .describe('How they are spread; instead of over nodes.')
    .exactOptional(),
  priorityClassName: objectName.describe('Their PriorityClass.').exactOptional(),
});

const container = z.object({
  image: text(1024)
    .describe(
      'What they run, instead of what the operator is told: to stay at a version while it is upgraded.',
    )
    .exactOptional(),
});

export const proxyTemplate = z.object({
  pod: pod.describe('Fields of the pods.').exactOptional(),
  container: container.describe('Fields of their container.').exactOptional(),
});
