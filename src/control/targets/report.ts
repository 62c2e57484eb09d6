/** What is reported of joined clusters. */
import type { Metrics } from '../../ops/metrics.ts';
import type { JoinedTargets } from './targets.ts';

/** Has metrics say how each joined cluster is. */
export function reportTargets(targets: Pick<JoinedTargets, 'states'>, metrics: Metrics): void {
  const reachable = metrics.gauge(
    'isthmus_cluster_reachable',
    '1 for each joined cluster that answers, by the operator that leads.',
  );
  const expires = metrics.gauge(
    'isthmus_cluster_credential_not_after_seconds',
    'When the credential of each joined cluster ends, in seconds since 1970; nothing of one that does not end.',
  );
  const warnings = metrics.gauge(
    'isthmus_cluster_warnings',
    'What is not as it should be, by joined cluster.',
  );
  const reported = new Set<string>();
  metrics.beforeReport(() => {
    const states = targets.states().filter(({ isCentral }) => !isCentral);
    for (const cluster of reported) {
      for (const family of [reachable, expires, warnings]) family.drop({ cluster });
      reported.delete(cluster);
    }
    for (const { name: cluster, reach, credentialExpiresAt, warnings: its } of states) {
      reported.add(cluster);
      if (reach.state !== 'unknown') reachable.of({ cluster }).value = Number(reach.state === 'reachable');
      if (credentialExpiresAt !== undefined) expires.of({ cluster }).value = credentialExpiresAt / 1000;
      warnings.of({ cluster }).value = its.length;
    }
  });
}
