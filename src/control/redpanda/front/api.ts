/** One listener as its owner writes it. Pure. */
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import type { Fault } from '../faults.ts';
import type { Listener } from '../model.ts';

export type Configuration = RedpandaCluster['spec']['configuration'];
export type Api = NonNullable<Configuration['kafkaApi']>[number];

/** Where listeners are in a Cluster. */
export const PATH = ['spec', 'configuration'] as const;

export type Path = readonly (string | number)[];

export const faultAt = (reason: Fault['reason'], path: Path, message: string): Fault => ({
  reason,
  path: [...PATH, ...path],
  message: `${path.join('.')}: ${message}`,
});

export const invalid = (path: Path, message: string): Fault => faultAt('Invalid', path, message);

export const isInternal = ({ external }: Api): boolean => external?.enabled !== true;

export function listenerOf(
  { name, port, authenticationMethod, tls }: Api,
  usualName: string,
  usualPort: number,
): Listener {
  const { enabled, nodeSecretRef, requireClientAuth, clientCACertRef } = tls ?? {};
  return {
    name: name || usualName,
    port: port || usualPort,
    authentication: authenticationMethod || undefined,
    tls:
      enabled && nodeSecretRef
        ? { secret: nodeSecretRef.name, clientCa: requireClientAuth ? clientCACertRef?.name : undefined }
        : undefined,
  };
}

export function tlsFaults({ tls }: Api, path: Path): Fault[] {
  if (tls?.enabled !== true) return [];
  const at = (field: string, message: string) => [invalid([...path, 'tls', field], message)];
  return [
    ...(tls.nodeSecretRef ? [] : at('nodeSecretRef', 'name the Secret with tls.crt and tls.key of the brokers: certificates are not made here')), // prettier-ignore
    ...(tls.requireClientAuth && !tls.clientCACertRef ? at('clientCACertRef', 'name the Secret with ca.crt, the authority of clients’ certificates') : []), // prettier-ignore
  ];
}
