import { connectKafka } from '../../kafka/client.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Address, TargetConfig } from '../config/model.ts';
import { contextOptions } from '../config/tls-context.ts';
import { lookupOf } from '../../ops/outbound.ts';
import { createTargetPolicy } from '../net/target-policy.ts';

/** Where some thousands of brokers are. */
const LONGEST_RESPONSE = 1_048_576;

/** What a target cluster said when it was asked where its brokers are. */
export type Fetched =
  | { nodes: [number, Address][] }
  /** It is there, but does not say: it wants a login first. */
  | { silent: true }
  | { unreachable: string };

/** Asks one bootstrap server after the other until one answers; `ask` is whether to ask for more than an answer. */
export async function fetchNodes(target: TargetConfig, ask: boolean, timeoutMs: number): Promise<Fetched> {
  const failures: string[] = [];
  for (const address of target.bootstrapServers) {
    try {
      return await fetchFrom(address, target, ask, timeoutMs);
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  return { unreachable: failures.join('; ') };
}

async function fetchFrom(
  { host, port }: Address,
  target: TargetConfig,
  ask: boolean,
  timeoutMs: number,
): Promise<Fetched> {
  const { tls, policy } = target;
  const lookup =
    policy?.bootstrap === 'checked'
      ? lookupOf(await createTargetPolicy(policy, [host]).resolve(host))
      : undefined;
  const client = await connectKafka({
    host,
    port,
    clientId: 'isthmus',
    connectTimeoutMs: timeoutMs,
    requestTimeoutMs: timeoutMs,
    maxResponseBytes: LONGEST_RESPONSE,
    ...(lookup && { lookup }),
    ...(tls && {
      tls: { ...contextOptions(tls.key, tls.trust, tls.rules), rejectUnauthorized: !tls.insecure },
    }),
  });
  try {
    if (!ask) return { silent: true };
    const { brokers } = await client.metadata([]);
    return { nodes: brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]) };
  } catch {
    return { silent: true };
  } finally {
    client.close();
  }
}
