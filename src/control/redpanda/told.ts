/** What clients outside of a Redpanda cluster are told about each broker, and which addresses that should lead to. Pure. */
import { isIP } from 'node:net';
import type { ToldEndpoint, ToldListener } from '../brokers/expose/told.ts';
import { hostOf, placesOf, recordsIn } from './expose.ts';
import type { Exposed } from './expose.ts';
import { idsOf } from './model.ts';
import type { ExternalListener } from './model.ts';
import type { Observed } from './observe.ts';

/** Of brokers that can be found somewhere, or that names lead to where they were; of others nobody knows where that should be. */
export function toldOutside(
  observed: Pick<Observed, 'pods' | 'dnsEndpoint'>,
  { model, isWithdrawn }: Pick<Exposed, 'model' | 'isWithdrawn'>,
): ToldListener[] {
  const { external } = model;
  if (!external) return [];
  const { name, tls, names, hostPort: port, addressType } = external;
  const records = isWithdrawn ? [] : recordsIn(observed, model);
  const byName = [undefined, ...idsOf(model)].flatMap((node): ToldEndpoint[] => {
    const host = node === undefined ? names?.bootstrap : hostOf(observed, model, node);
    const targets = records.flatMap((one) => (one.dnsName === host ? one.targets : []));
    return host === undefined || targets.length === 0 ? [] : [{ node, host, port, expected: ips(targets) }];
  });
  const byAddress = placesOf(observed, model, addressType).flatMap(({ id, told: host }): ToldEndpoint[] =>
    host === undefined ? [] : [{ node: id, host, port, expected: ips([host]) }],
  );
  return [
    {
      name,
      tls: tls !== undefined,
      authentication: loginOf(external),
      isNamed: names !== undefined,
      endpoints: names ? byName : byAddress,
    },
  ];
}

const ips = (targets: readonly string[]) => targets.filter((target) => isIP(target) !== 0).toSorted();

/** By what clients say who they are, as far as that keeps a probe out. */
function loginOf({ tls, authentication }: ExternalListener): ToldListener['authentication'] {
  if (tls?.clientCa !== undefined) return 'tls';
  return authentication === 'sasl' ? 'scram-sha-512' : 'none';
}
