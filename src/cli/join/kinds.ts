/** The kinds that a joined cluster needs. */
import type { JoinRoad } from '../../control/targets/names.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Kind } from '../../resources/kind.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import { serviceImport } from '../../resources/multicluster/service-import.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';

const KINDS: Record<JoinRoad, readonly Kind[]> = {
  stretch: [kafkaAnchor, strimziPodSet],
  discover: [serviceExport, serviceImport],
  probe: [],
};

export const neededKinds = (roads: readonly JoinRoad[]): Kind[] => roads.flatMap((road) => KINDS[road]);
