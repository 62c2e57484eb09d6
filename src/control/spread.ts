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
