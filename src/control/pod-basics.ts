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
