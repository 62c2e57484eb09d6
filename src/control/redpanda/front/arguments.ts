/** The command line of Redpanda: how much of the machine it takes. Pure. */
import { bytesOf } from '../../../resources/common/quantity.ts';
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';

/** Some memory is for what else is in the container. */
const MEMORY_SHARE = 0.9;
const MIB = 2 ** 20;

export function argumentsOf({ resources, configuration }: RedpandaCluster['spec']): Record<string, string> {
  const { requests = {}, redpanda = {} } = resources ?? {};
  const { developerMode, additionalCommandlineArguments } = configuration;
  const cpu = coresOf(redpanda['cpu'] ?? requests['cpu']);
  const own = bytesOf(String(redpanda['memory'] ?? ''));
  const memory = own ?? scaled(bytesOf(String(requests['memory'] ?? '')));
  return {
    'default-log-level': 'info',
    ...(cpu !== undefined && { smp: String(cpu) }),
    ...(memory !== undefined && { memory: `${Math.floor(memory / MIB)}M`, 'reserve-memory': '0M' }),
    ...(developerMode && { overprovisioned: 'true' }),
    // Last, so that they count.
    ...additionalCommandlineArguments,
  };
}

const scaled = (bytes: number | undefined) => (bytes === undefined ? undefined : bytes * MEMORY_SHARE);

/** Whole ones: Redpanda has a thread for each. */
function coresOf(amount: string | number | undefined): number | undefined {
  const [, number, milli] = /^(\d+(?:\.\d+)?)(m)?$/.exec(String(amount ?? '')) ?? [];
  if (number === undefined) return undefined;
  return Math.max(1, Math.ceil(Number(number) / (milli === undefined ? 1 : 1000)));
}
