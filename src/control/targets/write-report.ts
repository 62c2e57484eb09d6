/** Keeps the ConfigMap with what the operator knows of joined clusters. */
import type { Clock } from '../../kube/clock.ts';
import type { Client } from '../../kube/http/client.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { isSameJson } from '../../kube/json.ts';
import { FIELD_MANAGER, MANAGED_BY } from '../kernel/field-manager.ts';
import { CLUSTERS_MAP, reportOf } from './cluster-report.ts';
import type { JoinedTargets } from './targets.ts';

export interface ReportOptions {
  targets: Pick<JoinedTargets, 'states'>;
  client: () => Client;
  namespace: string;
  log: Log;
  clock: Clock;
}

const TICK_MS = 1000;
const TIMEOUT_MS = 15_000;

/** Writes when something has changed, until the signal is aborted. Where no cluster was ever joined nothing is written. */
export async function writeReports(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const { targets, client, namespace, log, clock } = options;
  let written: object | undefined;
  while (!signal.aborted) {
    const joined = targets.states().filter(({ isCentral }) => !isCentral);
    const data = Object.fromEntries(joined.map((state) => [state.name, JSON.stringify(reportOf(state))]));
    const isNews = written === undefined ? joined.length > 0 : !isSameJson(written, data);
    if (isNews)
      try {
        const metadata = { name: CLUSTERS_MAP, namespace, labels: MANAGED_BY };
        const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
        await client().apply(map, { fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal });
        written = data;
      } catch (error) {
        if (!signal.aborted)
          log.warn({ problem: messageOf(error) }, 'the report about joined clusters could not be written');
      }
    await clock.wait(TICK_MS, signal);
  }
}
