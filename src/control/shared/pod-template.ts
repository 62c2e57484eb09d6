/** What all pods of this project have in common, whoever makes them: few rights, and probes at the management port. */

/** For a pod. */
export const CONFINED_POD = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
};

/** For a container. */
export const CONFINED = {
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
};

const probe = (path: string) => ({
  httpGet: { path, port: 'management' },
  periodSeconds: 5,
  timeoutSeconds: 3,
});

/** For a container with a port named `management`. */
export const PROBES = {
  // On a busy node a start takes its time, and to be killed for that makes it no shorter.
  startupProbe: { ...probe('/livez'), periodSeconds: 1, failureThreshold: 180 },
  livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
  readinessProbe: probe('/readyz'),
};

/**
 * Keeps the pods of a Deployment apart: by node first, and by zone where there are any. The zone is a matter of affinity,
 * because the scheduler leaves a node out of all spread constraints when it lacks the label of one of them.
 */
export function spreadOut(matchLabels: Readonly<Record<string, string>>): object {
  const labelSelector = { matchLabels };
  const zone = { topologyKey: 'topology.kubernetes.io/zone', labelSelector };
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector,
      },
    ],
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: zone }],
      },
    },
  };
}
