/** The anchor of a Kafka in another Kubernetes cluster: what all that it has there hangs off, and who may write there. Pure. */
import type { AnyObject, OwnerReference } from '../../../kube/object.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { anchorOf } from '../anchor.ts';
import { withChange } from '../model/charter.ts';
import type { Charter } from '../model/charter.ts';

/** On anchors elsewhere, so that nobody deletes one, and with it all that is there, by mistake; and on the Kafka until they are gone. */
export const STRETCH_FINALIZER = 'isthmus.dev/stretch';

/** Who wants to write. */
export interface Claimant {
  kafkaUid: string;
  holder: string;
  clusterId: string;
  epoch: number;
}

export const claimantOf = (
  kafka: Kafka,
  charter: Pick<Charter, 'clusterId' | 'epoch'>,
  holder: string,
): Claimant => ({
  kafkaUid: kafka.metadata.uid ?? '',
  holder,
  clusterId: charter.clusterId,
  epoch: charter.epoch,
});

/**
 * Why somebody may not write where there is such an anchor; undefined if they may. Of two centrals the one with the higher epoch has the
 * Kafka, and of equal ones the one that was there first: whoever takes over raises the epoch.
 */
export function fenceOf({ metadata, spec }: KafkaAnchor, own: Claimant): string | undefined {
  const { clusterId, epoch, holder, kafka } = spec;
  if (clusterId !== own.clusterId)
    return `KafkaAnchor "${metadata.name}" there is of another Kafka cluster (${clusterId}); choose another name, or remove what is left of that one`;
  if (epoch < own.epoch) return undefined;
  const isOurs = kafka.uid === own.kafkaUid && holder === own.holder;
  if (epoch === own.epoch && isOurs) return undefined;
  return `"${holder}" has had this Kafka since epoch ${epoch}, and here it is of epoch ${own.epoch}; to take it over, raise spec.epoch of the KafkaAnchor here above that`;
}

/** As it is to be there; over `live`, if there is one. Ports of nodes are: whoever runs Kafkas there sees that they are taken. Restarts and changes of voters that are under way are the central anchor's alone. */
export function targetAnchor(
  kafka: Kafka,
  charter: Charter,
  holder: string,
  live: KafkaAnchor | undefined,
): AnyObject {
  const lasting = { ...charter, addresses: {}, names: {}, inFlight: undefined };
  const bare = withChange(lasting, undefined);
  const { metadata, ...anchor } = anchorOf(kafka, bare, holder, live);
  return { ...anchor, metadata: { ...metadata, finalizers: [STRETCH_FINALIZER] } };
}

/** What is there hangs off the anchor there, as it does off the Kafka in the central cluster; data off nothing. */
export function hungOff({ metadata: { name, uid = '' } }: KafkaAnchor, object: AnyObject): AnyObject {
  const { ownerReferences, ...metadata } = object.metadata;
  if (!ownerReferences) return object;
  const owner: OwnerReference = {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    name,
    uid,
    controller: false,
    blockOwnerDeletion: false,
  };
  return { ...object, metadata: { ...metadata, ownerReferences: [owner] } };
}
