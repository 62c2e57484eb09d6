/** Reads NamePolicies, and says on each that cannot be read why its zone is closed, once for each problem. */
import type { EventRecorder } from '../../../kube/write/events.ts';
import { hashOf } from '../../../kube/json.ts';
import type { Log } from '../../../ops/log.ts';
import type { NamePolicies } from '../../shared/name-policy.ts';

export function reportUnreadable(
  policies: () => NamePolicies,
  { events, log }: { events: EventRecorder; log: Log },
): () => NamePolicies {
  let reported = new Set<string>();
  return () => {
    const now = policies();
    const before = reported;
    reported = new Set();
    for (const { object, zone, problem } of now.unreadable) {
      const hash = hashOf([object.metadata.name, problem]);
      reported.add(hash);
      if (before.has(hash)) continue;
      const below = zone === '' ? 'no name' : `no name in the zone ${zone}`;
      const note = `${problem}; ${below} is granted to anybody new until it can be, what has been granted stays`;
      log.warn({ policy: object.metadata.name, problem }, 'NamePolicy cannot be read');
      events.record(object, { type: 'Warning', reason: 'NamePolicyUnreadable', action: 'PublishName', note });
    }
    return now;
  };
}
