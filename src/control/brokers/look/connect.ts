/** How the operator gets through to the nodes of a cluster: by the addresses of their pods, verified by name, so that it works without DNS. */
import type { AnyObject } from '../../../kube/object.ts';
import { openAdmin } from '../../../kafka/admin/admin.ts';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { OnRequest } from '../../../kafka/admin/routing.ts';
import { textOf } from '../../../pki/secrets.ts';
import { OPERATOR, viewOf } from '../certificates/seen.ts';
import type { Charter } from '../model/charter.ts';
import type { BrokerCluster, Role } from '../model/cluster.ts';
import {
  CLUSTER_CA_BUNDLE,
  CONTROL_PLANE_PORT,
  REPLICATION_PORT,
  nodeHost,
  operatorCertsName,
  podName,
  trustBundleName,
} from '../model/names.ts';

export interface Identity {
  ca: string;
  cert: string;
  key: string;
}

/**
 * The operator's own certificate, and whom it trusts; undefined before there are any. A new central that has none yet, and no key that
 * nodes trust, speaks with the certificate of one of them.
 */
export function identityOf(
  cluster: string,
  secretOf: (name: string) => AnyObject | undefined,
  nodes: readonly string[] = [],
): Identity | undefined {
  const ca = textOf(viewOf(secretOf(trustBundleName(cluster))), CLUSTER_CA_BUNDLE);
  const pair = (secret: string, name: string) => {
    const view = viewOf(secretOf(secret));
    const [cert, key] = [textOf(view, `${name}.crt`), textOf(view, `${name}.key`)];
    return ca === undefined || cert === undefined || key === undefined ? [] : [{ ca, cert, key }];
  };
  return pair(operatorCertsName(cluster), OPERATOR)[0] ?? nodes.flatMap((node) => pair(node, node))[0];
}

interface Reached {
  id: number;
  host: string;
  servername: string;
}

/** A cluster, and all of its nodes: those whose pool was deleted are among them until they are empty. */
export interface Reachable {
  cluster: Pick<BrokerCluster, 'name' | 'namespace'>;
  charter: Pick<Charter, 'nodes'>;
}

/** Pods that have an address, of nodes that are this. */
function reachedBy({ cluster, charter }: Reachable, pods: readonly AnyObject[], role: Role): Reached[] {
  const addresses = new Map(
    pods.map((pod) => [pod.metadata.name, ((pod['status'] ?? {}) as { podIP?: string }).podIP]),
  );
  return charter.nodes.flatMap(({ id, pool, roles }) => {
    const name = podName(cluster.name, pool, id);
    const host = addresses.get(name);
    if (!roles.includes(role) || host === undefined) return [];
    return [{ id, host, servername: nodeHost(cluster.name, cluster.namespace, name) }];
  });
}

const TIMEOUTS = { connectTimeoutMs: 5000, requestTimeoutMs: 10_000, callTimeoutMs: 15_000 };

/** A client of the brokers or of the controllers; undefined where no pod of theirs has an address. */
export function connectTo(
  nodes: Reachable,
  pods: readonly AnyObject[],
  tls: Identity,
  endpoints: 'brokers' | 'controllers',
  onRequest: OnRequest,
): Admin | undefined {
  const isBrokers = endpoints === 'brokers';
  const port = isBrokers ? REPLICATION_PORT : CONTROL_PLANE_PORT;
  const reached = reachedBy(nodes, pods, isBrokers ? 'broker' : 'controller');
  if (reached.length === 0) return undefined;
  const byId = new Map(reached.map(({ id, host, servername }) => [id, { host, port, servername }]));
  return openAdmin({
    ...TIMEOUTS,
    bootstrap: [...byId.values()],
    endpoints,
    tls: { ...tls, minVersion: 'TLSv1.2' },
    // Only pods that are known: an address that Kafka tells is not followed anywhere else.
    addressOf: (id) => byId.get(id),
    clientId: 'isthmus-operator',
    onRequest,
  });
}
