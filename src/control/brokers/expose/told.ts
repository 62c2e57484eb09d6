/** What clients outside are told about each broker, and which addresses that should lead to. Pure. */
import { isIP } from 'node:net';
import type { BrokerCluster, Exposure, Listener } from '../model/cluster.ts';
import type { Observed } from '../observe.ts';
import { brokerIds, placesOf, recordsFor } from './endpoints.ts';
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

type Seen = Pick<Observed, 'pods' | 'dnsEndpoints'>;

/** Of brokers that can be found somewhere, or that names lead to where they were: of others nobody knows where that should be. */
export function toldListeners(observed: Seen, cluster: BrokerCluster): ToldListener[] {
  return cluster.listeners.flatMap((listener) => {
    const { name, tls, authentication, exposure } = listener;
    return exposure
      ? [
          {
            name,
            tls,
            authentication,
            isNamed: exposure.hostPattern !== undefined,
            endpoints: endpointsOf(observed, cluster, listener, exposure),
            ...(exposure.allowedSources.length > 0 && {
              sources: { allowed: exposure.allowedSources, by: exposure.by },
            }),
          },
        ]
      : [];
  });
}

function endpointsOf(
  observed: Seen,
  cluster: BrokerCluster,
  listener: Pick<Listener, 'name' | 'exposure'>,
  exposure: Exposure,
): ToldEndpoint[] {
  const { hostPattern, port } = exposure;
  const ips = (targets: readonly string[]) => targets.filter((target) => isIP(target) !== 0).toSorted();
  if (hostPattern === undefined) {
    const { brokers, bootstrap = [] } = placesOf(observed, cluster, exposure);
    return [
      ...bootstrap.map((host) => ({ node: undefined, host, port, expected: ips([host]) })),
      ...brokers.flatMap(({ id, told: host }) =>
        host === undefined ? [] : [{ node: id, host, port, expected: ips([host]) }],
      ),
    ];
  }
  const records = recordsFor(observed, cluster, listener);
  return [undefined, ...brokerIds(cluster)].flatMap((node) => {
    const host = exposedHost(hostPattern, node ?? 'bootstrap');
    const targets = records.flatMap((one) => (one.dnsName === host ? one.targets : []));
    return targets.length === 0 ? [] : [{ node, host, port, expected: ips(targets) }];
  });
}
