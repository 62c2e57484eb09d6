/** The replica of `isthmus dns` that leads, as far as delegation goes, with the rights of a kubeconfig. */
import { createDelegator } from '../../../src/control/discover/delegation/delegator.ts';
import { delegationOptions } from '../../../src/control/discover/delegation/settings.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import type { Clock } from '../../../src/kube/clock.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import { createEventRecorder } from '../../../src/kube/write/events.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import type { Log } from '../../../src/ops/log.ts';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';

export interface Leader extends AsyncDisposable {
  metrics(): Promise<string>;
}

export interface LeaderOptions {
  kubeconfig: string;
  namespace: string;
  zones: string[];
  /** The settings of the delegation, as in a configuration. */
  delegation: object;
  log: Log;
  clock?: Clock;
}

/** Delegates until it is disposed of. */
export function startLeader(given: LeaderOptions): Leader {
  const { kubeconfig, namespace, zones, delegation, log, clock = systemClock } = given;
  const cluster = createCluster({ name: 'west', connection: loadConnection({ file: kubeconfig }), log });
  const client = () => cluster.client;
  const events = createEventRecorder({ client, reportingController: 'isthmus.dns', log });
  const metrics = createMetrics();
  const options = delegationOptions.parse(delegation);
  const over = new AbortController();
  const place = { cluster, namespace, serviceName: 'isthmus-dns' };
  const ready = Promise.resolve();
  const parts = { options, ready, events, log, metrics, clock };
  const work = createDelegator({ ...place, zones, ...parts }).work(over.signal);
  return {
    metrics: async () => metricsText([await metrics.snapshot()]),
    async [Symbol.asyncDispose]() {
      over.abort();
      await work;
      await events.stop();
      await cluster.stop();
    },
  };
}
