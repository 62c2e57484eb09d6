/** Takes the way of a client outside to all that clients of a cluster are told. */
import { probeAll } from '../../../probe/cluster.ts';
import type { ProbeOptions } from '../../../probe/endpoint.ts';
import type { Broker } from '../../../probe/probed.ts';
import { refuseSpecial } from '../../../probe/refusal.ts';
import type { Resolve } from '../../../probe/resolve.ts';
import type { ToldListener } from '../expose/told.ts';
import type { Reported } from './metrics.ts';
import { placeOf, verdictOf } from './verdict.ts';

/** Beyond this a status would be too long. */
const MAX_ENDPOINTS = 1024;
const TIMEOUT_MS = 5000;

/** By what clients get into a listener, as far as the operator has it. */
export type Access = Pick<ProbeOptions, 'tls' | 'anyAuthority' | 'withoutLogin' | 'withoutCertificate'>;

export interface Eyes {
  /** As a client outside would. */
  resolve: Resolve;
  /** Networks of special addresses that are probed all the same. */
  networks?: readonly string[] | undefined;
}

/** Every broker says of all of them where clients are to go. */
function note(announced: Map<number, Set<string>>, brokers: readonly Broker[]): void {
  for (const { nodeId, host, port } of brokers) {
    const known = announced.get(nodeId);
    if (known) known.add(placeOf(host, port));
    else announced.set(nodeId, new Set([placeOf(host, port)]));
  }
}

export async function lookAt(
  listeners: readonly ToldListener[],
  accessTo: (listener: ToldListener) => Promise<Access>,
  { resolve, networks = [] }: Eyes,
): Promise<Reported[]> {
  const refusal = refuseSpecial(networks);
  const reported: Reported[] = [];
  for (const listener of listeners) {
    const endpoints = listener.endpoints.slice(0, MAX_ENDPOINTS - reported.length);
    const options = { resolve, refusal, ...(await accessTo(listener)), timeoutMs: TIMEOUT_MS };
    const asked = endpoints.map(({ host, port, node }) => ({
      host,
      port,
      ...(node !== undefined && { nodeId: node }),
    }));
    const announced = new Map<number, Set<string>>();
    const probed = await probeAll(asked, options, ({ brokers }) => note(announced, brokers));
    probed.forEach((one, at) =>
      reported.push({
        isNamed: listener.isNamed,
        probed: one,
        verdict: verdictOf(listener, endpoints[at]!, one, announced),
      }),
    );
  }
  return reported;
}
