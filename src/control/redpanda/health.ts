/**
 * What a Redpanda cluster says of itself, by its admin API. Redpanda's Kafka API names every replica as in sync, whatever has become of
 * it, so that what a restart would take away can be learned here only.
 */
import { z } from 'zod';
import { messageOf } from '../../ops/errors.ts';
import { boundedText, httpGet } from '../shared/http-get.ts';

const MAX_BROKERS = 10_000;
const ids = z.array(z.int().min(0)).max(MAX_BROKERS);

/** Of the answer, what restarts are decided by. */
const overview = z.object({
  is_healthy: z.boolean(),
  controller_id: z.int(),
  all_nodes: ids,
  nodes_down: ids,
  leaderless_partitions: z.array(z.unknown()),
  /** Older versions do not tell, and so nobody knows when a broker has caught up. */
  under_replicated_partitions: z.array(z.unknown()).optional(),
});

export interface Health {
  /** Before the request was sent. */
  at: number;
  /** Brokers that have joined, and those of them that are down. */
  brokers: readonly number[];
  down: readonly number[];
  /** Why no broker may be taken away now; undefined: every partition has all of its replicas. */
  problem: string | undefined;
}

/** Reads an answer; undefined if it is none of Redpanda's. */
export function readHealth(answer: unknown, at: number): Health | undefined {
  const { data } = overview.safeParse(answer);
  if (!data) return undefined;
  const { all_nodes: brokers, nodes_down: down } = data;
  return { at, brokers, down, problem: problemIn(data) };
}

function problemIn(seen: z.output<typeof overview>): string | undefined {
  const { nodes_down: down, leaderless_partitions: leaderless } = seen;
  const lagging = seen.under_replicated_partitions;
  const problems = [
    ...(down.length > 0 ? [`brokers ${down.join(', ')} are down`] : []),
    ...(seen.controller_id < 0 ? ['the cluster has no controller'] : []),
    ...(leaderless.length > 0 ? [`${leaderless.length} partitions have no leader`] : []),
    ...(lagging === undefined ? ['this version does not tell which partitions lack replicas; upgrade by deleting pods by hand'] : []), // prettier-ignore
    ...(lagging !== undefined && lagging.length > 0 ? [`${lagging.length} partitions lack replicas`] : []),
  ];
  if (problems.length > 0) return problems.join(', ');
  return seen.is_healthy ? undefined : 'the cluster is not healthy';
}

const PATH = '/v1/cluster/health_overview';
const TIMEOUT_MS = 5000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Asks brokers one after the other until one answers. */
export async function askHealth(
  hosts: readonly string[],
  port: number,
  clock: () => number,
  signal: AbortSignal,
): Promise<{ health: Health | undefined; problem: string | undefined }> {
  const problems: string[] = [];
  for (const host of hosts) {
    const at = clock();
    try {
      const health = readHealth(await askJson(host, port, signal), at);
      if (health) return { health, problem: health.problem };
      problems.push(`${host}:${port} does not answer as Redpanda does`);
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${host}:${port}: ${messageOf(error)}`);
    }
  }
  const problem = problems.length > 0 ? problems.join('; ') : 'no broker has an address';
  return { health: undefined, problem };
}

async function askJson(host: string, port: number, signal: AbortSignal): Promise<unknown> {
  const enough = new AbortController();
  const within = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const response = await httpGet({ host, port, path: PATH, signal: within });
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
    const text = await boundedText(response, MAX_ANSWER_BYTES);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } finally {
    enough.abort(); // whatever it still has to say
  }
}
