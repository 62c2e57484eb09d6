/** A pod that takes the way of a client from where it runs, says in its last message what it met, and ends. Pure. */
import type { AnyObject, ObjectMeta } from '../../kube/object.ts';
import { CONFINED, CONFINED_POD } from './pod-template.ts';

/** By which whoever was interrupted finds what was left. */
export const PROBE_LABELS = {
  'app.kubernetes.io/part-of': 'isthmus',
  'app.kubernetes.io/component': 'probe',
};

/** Where Kubernetes takes the message from that is in the status when a container has ended. */
export const PROBE_REPORT = '/dev/termination-log';
/** Then it is ended, whoever has forgotten it. */
const DEADLINE_SECONDS = 600;

export interface ProbePod {
  metadata: ObjectMeta;
  image: string;
  args: readonly string[];
  /** A Secret, and where its entries are files. */
  files?: { secretName: string; mountPath: string };
}

/** It has no rights and no token. */
export function probePod({ metadata, image, args, files }: ProbePod): AnyObject {
  const volume = { name: 'files', secret: { secretName: files?.secretName, defaultMode: 0o444 } };
  const mount = { name: 'files', mountPath: files?.mountPath, readOnly: true };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, labels: { ...metadata.labels, ...PROBE_LABELS } },
    spec: {
      ...CONFINED_POD,
      restartPolicy: 'Never',
      activeDeadlineSeconds: DEADLINE_SECONDS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: [
        {
          name: 'probe',
          image,
          args,
          ...CONFINED,
          resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
          ...(files && { volumeMounts: [mount] }),
        },
      ],
      ...(files && { volumes: [volume] }),
    },
  };
}

/** How far the pod is: over, with what it has said; or not yet, and why. */
export type ProbePodState = ProbePodEnd | { isOver: false; why: string };

export interface ProbePodEnd {
  isOver: true;
  message: string;
  /** Of the program; negative if it did not come to its own end. */
  code: number;
}

interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: { type: string; status: string; message?: string }[];
  containerStatuses?: {
    state?: {
      waiting?: { reason?: string; message?: string };
      terminated?: { exitCode?: number; message?: string };
    };
  }[];
}

export function probePodState(pod: AnyObject | undefined): ProbePodState {
  if (!pod) return { isOver: true, message: 'somebody has deleted its pod', code: -1 };
  const status = (pod['status'] ?? {}) as PodStatus;
  const { waiting, terminated } = status.containerStatuses?.[0]?.state ?? {};
  if (terminated) return { isOver: true, message: terminated.message ?? '', code: terminated.exitCode ?? -1 };
  if (status.phase === 'Failed')
    return { isOver: true, message: `${status.reason ?? 'Failed'}: ${status.message ?? ''}`, code: -1 };
  const unplaced = status.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  const why = unplaced?.message ?? [waiting?.reason, waiting?.message].filter(Boolean).join(': ');
  return { isOver: false, why };
}
