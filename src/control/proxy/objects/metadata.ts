/** What all objects made for a proxy have in common. */
import type { ObjectMeta, OwnerReference } from '../../../kube/object.ts';
import type { Infrastructure } from '../../../resources/common/infrastructure.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import { objectLabels } from '../names.ts';

/** What users want on objects. Where two want different things, the later one in the list has its way. */
export function combined(...wishes: readonly Infrastructure[]): Infrastructure {
  return {
    annotations: Object.assign({}, ...wishes.map(({ annotations }) => annotations)) as Record<string, string>,
    labels: Object.assign({}, ...wishes.map(({ labels }) => labels)) as Record<string, string>,
  };
}

/** The metadata of an object that belongs to a proxy. Labels of ours win: objects are found again by them. */
export function metadataOf(
  name: string,
  proxy: KafkaProxy,
  { annotations, labels }: Infrastructure,
  own: Record<string, string> = {},
): ObjectMeta {
  const { name: instance, namespace } = proxy.metadata;
  return {
    name,
    namespace,
    labels: { ...labels, ...own, ...objectLabels(instance) },
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ownerReferences: ownerReferences(proxy),
  };
}

/** Lets Kubernetes clear up after a KafkaProxy even when nobody runs that could. */
function ownerReferences({ apiVersion, kind, metadata }: KafkaProxy): OwnerReference[] {
  return [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }];
}
