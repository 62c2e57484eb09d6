/** What trying to make objects has shown: names that are someone else's, and objects that the API server refuses. */
import { bootstrapRouteName, clusterServiceName, nodeRouteName, sharedServiceName } from '../names.ts';
import type { PlacelessFault } from './platform.ts';
import type { Learned } from '../../kernel/reconcile.ts';

type Objections = Pick<Learned<unknown>, 'taken' | 'denied'>;

/** Services, routes and records belong to single virtual clusters or ingresses, which say so themselves. */
export const isIngressObject = (reference: string) =>
  /^(Service |Route\.|TLSRoute\.|DNSEndpoint\.)/.test(reference);

/** What is wrong with the objects of one ingress of one virtual cluster. */
export function objectFaults(
  cluster: string,
  ingress: string,
  nodes: readonly number[],
  { taken, denied }: Objections,
): PlacelessFault[] {
  if (taken.size === 0 && denied.size === 0) return [];
  const service = clusterServiceName(cluster, ingress);
  const routes = new Set([
    bootstrapRouteName(cluster, ingress),
    ...nodes.map((node) => nodeRouteName(cluster, ingress, node)),
  ]);
  const isOwn = ({ kind, name }: Named) => (kind.endsWith('Route') ? routes.has(name) : name === service);
  return [
    ...[...taken].flatMap((reference) => {
      const named = namedBy(reference);
      return isIngressObject(reference) && isOwn(named) ? [takenFault(named)] : [];
    }),
    ...[...denied].flatMap(([reference, why]) => {
      const named = namedBy(reference);
      return isIngressObject(reference) && isOwn(named) ? [deniedFault(named, why)] : [];
    }),
  ];
}

/** What is wrong with the Service that all virtual clusters of an ingress share. */
export function sharedServiceFaults(
  namespace: string,
  ingress: string,
  { taken, denied }: Objections,
): PlacelessFault[] {
  const named = { kind: 'Service', name: sharedServiceName(ingress) };
  const reference = `Service ${namespace}/${named.name}`;
  const why = denied.get(reference);
  return [
    ...(taken.has(reference) ? [takenFault(named)] : []),
    ...(why === undefined ? [] : [deniedFault(named, why)]),
  ];
}

interface Named {
  kind: string;
  name: string;
}

/** Reads `TLSRoute.gateway.networking.k8s.io default/a`. */
function namedBy(reference: string): Named {
  const [type = '', key = ''] = reference.split(' ');
  return { kind: type.split('.')[0]!, name: key.slice(key.indexOf('/') + 1) };
}

function takenFault({ kind, name }: Named): PlacelessFault {
  const message = `${kind} "${name}" exists and was made by someone else; delete it, or choose other names`;
  return { reason: kind === 'DNSEndpoint' ? 'RecordsNotPublished' : 'NameTaken', message };
}

function deniedFault({ kind, name }: Named, why: string): PlacelessFault {
  return { reason: 'Denied', message: `the API server refuses ${kind} "${name}": ${why}` };
}
