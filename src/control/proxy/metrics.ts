/** What the operator counts about a road. */
import type { Outcome } from '../../kube/controller/controller.ts';
import type { Metrics } from '../../ops/metrics.ts';

export interface RoadMetrics {
  reconciled(outcome: Outcome['outcome'], seconds: number): void;
  /** How many objects a plan has; none forgets it. */
  planned(key: string, objects: number): void;
  wrote(what: 'created' | 'updated' | 'deleted' | 'status' | 'pod', times: number): void;
}

/** Wraps the metrics of one controller. */
export function createRoadMetrics(metrics: Metrics, controller: string): RoadMetrics {
  const outcomes = metrics.counter('isthmus_operator_reconciles_total', 'Reconciles, by how they ended');
  const seconds = metrics
    .histogram('isthmus_operator_reconcile_seconds', 'How long reconciles took')
    .of({ controller });
  const objects = metrics.gauge('isthmus_operator_planned_objects', 'Objects that should exist, by owner');
  const writes = metrics.counter(
    'isthmus_operator_writes_total',
    'Writes to the API server, by what they did',
  );
  return {
    reconciled(outcome, took) {
      outcomes.of({ controller, outcome }).value += 1;
      seconds.observe(took);
    },
    planned(key, count) {
      if (count === 0) objects.drop({ controller, owner: key });
      else objects.of({ controller, owner: key }).value = count;
    },
    wrote(what, times) {
      if (times > 0) writes.of({ controller, what }).value += times;
    },
  };
}
