/** The pods of Kafkas in all Kubernetes clusters, looked up as those of one. */
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { read } from '../../kernel/read.ts';
import type { Remotes } from '../../kernel/remotes.ts';
import type { View, Watched } from '../../kernel/watches.ts';
import { anchorName } from '../model/names.ts';
import { inAllPlaces } from '../observe.ts';
import type { KafkaViews } from '../watches.ts';
import { sightsOf } from './sight.ts';
import type { TargetViews } from './watches.ts';

/** Found by their Kafka; the other ways to look them up are for those of the central cluster. */
export function podsEverywhere(views: KafkaViews, remotes: Remotes<TargetViews> | undefined): View {
  const { pods } = views;
  return {
    get: (key) => pods.get(key),
    list: (namespace) => pods.list(namespace),
    find(index, value) {
      const here = pods.find(index, value);
      if (!remotes || index !== 'kafka') return here;
      const { namespace = '', name } = nameOfKey(value);
      const found = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
      const anchor = found && read(kafkaAnchor, found).resource;
      return inAllPlaces(here, sightsOf(remotes, { namespace, name }), 'pods', anchor);
    },
  };
}

/** The same caches, with pods of all clusters in the place of those of one. */
export function withPodsEverywhere(
  caches: Watched<KafkaViews>,
  remotes: Remotes<TargetViews> | undefined,
): Watched<KafkaViews> {
  if (!remotes) return caches;
  // Views of optional kinds come and go, so what is not pods is asked for each time.
  const views = Object.create(caches.views, {
    pods: { get: () => podsEverywhere(caches.views, remotes) },
  }) as KafkaViews;
  return Object.create(caches, { views: { value: views } }) as Watched<KafkaViews>;
}
