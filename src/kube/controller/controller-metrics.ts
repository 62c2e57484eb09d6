/** What every controller reports about itself. */
import type { Metrics } from '../../ops/metrics.ts';
import type { Outcome } from './controller.ts';

export interface ControllerMetrics {
  reconciled(outcome: Outcome['outcome'], seconds: number): void;
  stop(): void;
}

/** Looked up at each report. */
export interface QueueState {
  waiting: number;
  active: number;
  failing: number;
  /** How long the key that has waited longest for a worker has done so. */
  oldestMs: number;
}

export function createControllerMetrics(
  metrics: Metrics,
  controller: string,
  queue: () => QueueState,
): ControllerMetrics {
  const outcomes = metrics.counter('isthmus_controller_reconciles_total', 'Reconciles, by how they ended.');
  const seconds = metrics
    .histogram('isthmus_controller_reconcile_seconds', 'How long reconciles took.')
    .of({ controller });
  const depth = metrics.gauge(
    'isthmus_controller_queue_keys',
    'Keys in the queue of a controller, by state.',
  );
  const age = metrics
    .gauge('isthmus_controller_queue_age_seconds', 'How long the oldest key in the queue has waited.')
    .of({ controller });
  const end = metrics.beforeReport(() => {
    const { waiting, active, failing, oldestMs } = queue();
    for (const [state, keys] of Object.entries({ waiting, active, failing }))
      depth.of({ controller, state }).value = keys;
    age.value = oldestMs / 1000;
  });
  return {
    reconciled(outcome, took) {
      outcomes.of({ controller, outcome }).value += 1;
      seconds.observe(took);
    },
    stop() {
      end();
      for (const state of ['waiting', 'active', 'failing']) depth.of({ controller, state }).value = 0;
      age.value = 0;
    },
  };
}
