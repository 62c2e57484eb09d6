/** What is counted about the plans of one controller and what they write. */
import type { Metrics } from '../../ops/metrics.ts';

export interface RoadMetrics {
  /** How many objects a plan has; none forgets it. */
  planned(key: string, objects: number): void;
  wrote(what: 'created' | 'updated' | 'deleted' | 'failed' | 'status' | 'pod', times: number): void;
}

export function createRoadMetrics(metrics: Metrics, road: string): RoadMetrics {
  const objects = metrics.gauge('isthmus_road_planned_objects', 'Objects that should exist, by owner.');
  const writes = metrics.counter('isthmus_road_writes_total', 'Writes to API servers, by what they did.');
  return {
    planned(key, count) {
      if (count === 0) objects.drop({ road, owner: key });
      else objects.of({ road, owner: key }).value = count;
    },
    wrote(what, times) {
      if (times > 0) writes.of({ road, what }).value += times;
    },
  };
}
