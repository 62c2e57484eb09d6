/** Gets through to the Kafka cluster that has some topics or users, by what is known of it in caches. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { OnRequest } from '../../../kafka/admin/routing.ts';
import { keyOf } from '../../../kube/object.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import { charterOf } from '../anchor.ts';
import { connectTo, identityOf } from '../look/connect.ts';
import { isEmptied } from '../model/charter.ts';
import type { Charter } from '../model/charter.ts';
import { anchorName, operatorCertsName, trustBundleName } from '../model/names.ts';
import type { KafkaViews } from '../watches.ts';

export type ReachViews = Pick<KafkaViews, 'anchors' | 'pods' | 'secrets'>;

/** The Secrets that it takes, as keys. */
export const secretsToReach = ({ metadata: { namespace, name } }: Kafka): string[] =>
  [operatorCertsName(name), trustBundleName(name)].map((secret) => keyOf({ namespace, name: secret }));

/** What is written down of a cluster; undefined before anything is. */
export function charterIn(
  { anchors }: Pick<KafkaViews, 'anchors'>,
  { metadata }: Kafka,
): Charter | undefined {
  const found = anchors?.get(keyOf({ ...metadata, name: anchorName(metadata.name) }));
  const anchor = found && read(kafkaAnchor, found).resource;
  return anchor && charterOf(anchor);
}

/** Brokers that are to go, or to be none any more. */
export const leavingIn = (charter: Charter | undefined): Set<number> =>
  new Set((charter?.nodes ?? []).filter(isEmptied).map(({ id }) => id));

/** One client for all that is asked about; undefined as long as there is nobody to ask. */
export function reach(
  views: ReachViews,
  home: Kafka,
  charter: Charter | undefined,
  onRequest: OnRequest,
): Admin | undefined {
  const { namespace, name } = home.metadata;
  const secretOf = (secret: string) => views.secrets.get(keyOf({ namespace, name: secret }));
  const identity = identityOf(name, secretOf);
  if (!identity || !charter) return undefined;
  const pods = views.pods.find('kafka', keyOf(home.metadata));
  return connectTo({ cluster: { namespace, name }, charter }, pods, identity, 'brokers', onRequest);
}
