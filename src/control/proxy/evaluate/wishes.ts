/** What people want on objects and do not get: keys that no admin allowed, labels that are the operator's, wishes that reach nothing. */
import { grantWishes } from '../../../resources/common/allowed-infrastructure.ts';
import type { RefusedKey } from '../../../resources/common/allowed-infrastructure.ts';
import type { Infrastructure } from '../../../resources/common/infrastructure.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { objectLabels } from '../names.ts';
import type { ServedKinds } from '../observed.ts';
import type { IngressModel, PlacelessFault } from './platform.ts';

/** What a virtual cluster wants on the objects of one ingress, and what its admin says there. */
export interface IngressWishes {
  ingress: string;
  wishes: Infrastructure;
  ingressSpec: Pick<KafkaProxyIngress['spec'], 'infrastructure' | 'allowedInfrastructure'>;
}

/** Nothing of this keeps a virtual cluster from being served. */
export function wishFaults(
  { ingress, wishes, ingressSpec }: IngressWishes,
  model: IngressModel,
  proxy: Pick<KafkaProxy, 'metadata' | 'spec'>,
  { dnsEndpoint }: Pick<ServedKinds, 'dnsEndpoint'>,
): PlacelessFault[] {
  const { allowedInfrastructure, infrastructure } = ingressSpec;
  const labels = objectLabels(proxy.metadata.name);
  const { granted, refused } = grantWishes(wishes, allowedInfrastructure, labels);
  // What an admin has set counts more in any case, and is there.
  const admins = [infrastructure, proxy.spec.infrastructure];
  const isSet = ({ field, key }: RefusedKey) => admins.some((one) => key in one[field]);
  const own = refused.filter(({ why }) => why === 'set by the operator');
  const others = refused.filter((one) => one.why === 'not allowed' && !isSet(one));
  const faults = [
    ...refusedFault(
      others,
      `KafkaProxyIngress "${ingress}" does not allow it; its admin can, in spec.allowedInfrastructure`,
    ),
    ...refusedFault(own, "that is the operator's own; remove it"),
  ];
  const isWanted = Object.keys({ ...granted.annotations, ...granted.labels }).length > 0;
  if (!isWanted || model.by !== 'loadBalancer' || dnsEndpoint) return faults;
  const message = `infrastructure reaches nothing: the virtual clusters of KafkaProxyIngress "${ingress}" share its Service, and no other object is made for this one; its admin can put it into spec.infrastructure there`;
  return [...faults, { reason: 'InfrastructureWithoutEffect', message }];
}

function refusedFault(refused: readonly RefusedKey[], why: string): PlacelessFault[] {
  if (refused.length === 0) return [];
  const keys = refused.map(({ field, key }) => `${field === 'labels' ? 'label' : 'annotation'} "${key}"`);
  const message = `infrastructure: left out ${keys.join(', ')}: ${why}`;
  return [{ reason: 'InfrastructureNotAllowed', message }];
}

/** Labels that an admin wants and that the operator sets otherwise. */
export function overruledLabels(
  { labels }: Infrastructure,
  own: Readonly<Record<string, string>>,
  place = '',
): PlacelessFault[] {
  const overruled = Object.keys(labels).filter((key) => Object.hasOwn(own, key) && own[key] !== labels[key]);
  return overruled.map((key) => ({
    reason: 'InfrastructureNotAllowed',
    message: `infrastructure: left out label "${key}"${place}: that is the operator's own, "${own[key]}"; remove it`,
  }));
}
