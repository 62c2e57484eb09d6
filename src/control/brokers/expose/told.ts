/** What clients outside are told about each broker, and which addresses that should lead to. Pure. */
import { isIP } from 'node:net';
import type { BrokerCluster, Exposure, Listener } from '../model/cluster.ts';
import type { Observed } from '../observe.ts';
import { placesOf, recordsFor } from './endpoints.ts';
import { exposedHost } from './names.ts';

/** One name, or address, that clients are told. */
export interface ToldEndpoint {
  /** Of the broker that it is to lead to; undefined for the name that all of them have. */
  node: number | undefined;
  host: string;
  port: number;
  /** All that the host is to resolve to; none where only a name is known. */
  expected: readonly string[];
}

/** A listener as clients outside see it. */
export interface ToldListener extends Pick<Listener, 'name' | 'tls' | 'authentication'> {
  /** Whether clients are told names, which somebody has to publish. */
  isNamed: boolean;
  endpoints: readonly ToldEndpoint[];
  /** Who may connect, and who sees to that; left out where everybody may. */
  sources?: { allowed: readonly string[]; by: Exposure['by'] };
}

/** Of brokers that can be found somewhere: of others nobody knows where that should be. */
export function toldListeners(observed: Pick<Observed, 'pods'>, cluster: BrokerCluster): ToldListener[] {
  return cluster.listeners.flatMap(({ name, tls, authentication, exposure }) =>
    exposure
      ? [
          {
            name,
            tls,
            authentication,
            isNamed: exposure.hostPattern !== undefined,
            endpoints: endpointsOf(observed, cluster, exposure),
            ...(exposure.allowedSources.length > 0 && {
              sources: { allowed: exposure.allowedSources, by: exposure.by },
            }),
          },
        ]
      : [],
  );
}

function endpointsOf(
  observed: Pick<Observed, 'pods'>,
  cluster: BrokerCluster,
  exposure: Exposure,
): ToldEndpoint[] {
  const { hostPattern, port } = exposure;
  const { brokers, bootstrap = [] } = placesOf(observed, cluster, exposure);
  const ips = (targets: readonly string[]) => targets.filter((target) => isIP(target) !== 0).toSorted();
  if (hostPattern === undefined)
    return [
      ...bootstrap.map((host) => ({ node: undefined, host, port, expected: ips([host]) })),
      ...brokers.flatMap(({ id, told: host }) =>
        host === undefined ? [] : [{ node: id, host, port, expected: ips([host]) }],
      ),
    ];
  const records = recordsFor(observed, cluster, exposure);
  return [undefined, ...brokers.map(({ id }) => id)].flatMap((node) => {
    const host = exposedHost(hostPattern, node ?? 'bootstrap');
    const targets = records.flatMap((one) => (one.dnsName === host ? one.targets : []));
    return targets.length === 0 ? [] : [{ node, host, port, expected: ips(targets) }];
  });
}
