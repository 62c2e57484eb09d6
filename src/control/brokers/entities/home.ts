/** Which Kafka has the topics and users of a namespace: the one that their label names, whose entity operator looks there. Pure. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../../kube/object.ts';
import { kafka } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import type { View } from '../../kernel/watches.ts';
import { isManaged } from '../front/kafka.ts';

export type EntityOperator = 'topicOperator' | 'userOperator';

/** The namespace whose topics or users a Kafka has; undefined if it does not say that it has any. */
export function watchedNamespace({ metadata, spec }: Kafka, operator: EntityOperator): string | undefined {
  const settings = spec.entityOperator?.[operator];
  if (typeof settings !== 'object' || settings === null) return undefined;
  const { watchedNamespace: namespace } = settings as { watchedNamespace?: unknown };
  return typeof namespace === 'string' && namespace !== '' ? namespace : metadata.namespace;
}

/**
 * The Kafka that has what is labelled with a name in a namespace, by that key. One in the same namespace comes before others that look
 * there from theirs: nobody takes over what somebody else's Kafka has.
 */
export function homeOf(key: string, kafkas: View | undefined, operator: EntityOperator): Kafka | undefined {
  const { namespace, name } = nameOfKey(key);
  const homes = (kafkas?.list() ?? [])
    .filter((object) => object.metadata.name === name && !isBeingDeleted(object))
    .flatMap((object) => read(kafka, object).resource ?? [])
    .filter((found) => isManaged(found) && watchedNamespace(found, operator) === namespace);
  const rank = ({ metadata }: Kafka) => `${metadata.namespace === namespace ? 0 : 1} ${metadata.namespace}`;
  return homes.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

/**
 * Whether a Kafka of that name that may have them cannot be read: nobody can tell what it has. One in another namespace counts only if it
 * says that it looks here, and if none here has them, or anybody's broken Kafka would stop everybody's of that name.
 */
export function isHomeUnclear(key: string, kafkas: View | undefined, operator: EntityOperator): boolean {
  const { namespace, name } = nameOfKey(key);
  const broken = (kafkas?.list() ?? []).filter(
    (object) =>
      object.metadata.name === name && isManaged(object) && read(kafka, object).problem !== undefined,
  );
  if (broken.some(({ metadata }) => metadata.namespace === namespace)) return true;
  const isHere = homeOf(key, kafkas, operator)?.metadata.namespace === namespace;
  return !isHere && broken.some((object) => mentions(object, operator) === namespace);
}

/** The namespace that a Kafka names to look in, read out of what makes no sense as a whole. */
function mentions({ spec }: AnyObject, operator: EntityOperator): unknown {
  type Loose = {
    entityOperator?: Partial<Record<EntityOperator, { watchedNamespace?: unknown } | null>> | null;
  };
  return (spec as Loose | undefined | null)?.entityOperator?.[operator]?.watchedNamespace;
}

/** The keys of topics or users to look at again when a Kafka changes. */
export function keysOfKafka(operator: EntityOperator): (object: AnyObject) => string[] {
  return (object) => {
    const { resource } = read(kafka, object);
    const namespace = resource && watchedNamespace(resource, operator);
    return [keyOf(object.metadata), ...(namespace ? [keyOf({ namespace, name: object.metadata.name })] : [])];
  };
}

const contentOf = ({ metadata, ...object }: AnyObject): string => {
  const { labels, annotations, finalizers, deletionTimestamp, uid } = metadata;
  return JSON.stringify([object['spec'], labels, annotations, finalizers, deletionTimestamp, uid]);
};

/** Whether a change is more than a status, which is written here. */
export const isNews = ({ before, after }: { before: AnyObject | undefined; after: AnyObject | undefined }) =>
  !before || !after || contentOf(before) !== contentOf(after);

/** Whether a person wants a resource left as it is for now. */
export const isPaused = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.['strimzi.io/pause-reconciliation'] === 'true';

/** Whether what a resource made goes with it: said by itself, or by its Kafka for all; it does if nobody says. */
export function usesFinalizer(resource: KubeObject, home: KubeObject): boolean {
  const own = resource.metadata.annotations?.[USE_FINALIZER_ANNOTATION];
  return (own ?? home.metadata.annotations?.[USE_FINALIZER_ANNOTATION]) !== 'false';
}

export const USE_FINALIZER_ANNOTATION = 'isthmus.dev/use-finalizer';
