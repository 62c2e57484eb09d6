/** What its owner wants of a Kafka, held against what there is: the model, or why not. Pure. */
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { HOST_PORTS, portsOfNode } from './expose/ports.ts';
import { fromKafka } from './front/kafka.ts';
import type { Reading } from './front/kafka.ts';
import type { BrokerSettings } from './front/settings.ts';
import type { Charter } from './model/charter.ts';
import { podsIn } from './objects/pod-sets.ts';
import type { Observed } from './observe.ts';
import { runningVersions } from './roll/pod-facts.ts';
import { storageBefore } from './storage-before.ts';

type ReadingSettings = BrokerSettings & { centralId?: string | undefined };

export function readingOf(
  observed: Observed,
  kafka: Kafka,
  charter: Charter,
  settings: ReadingSettings,
): Reading {
  return fromKafka(
    {
      kafka,
      pools: observed.pools,
      charter,
      joined: joinedOf(observed, settings),
      storage: storageBefore(observed),
      names: { ...observed.names, now: observed.now },
      running: runningVersions(observed.pods),
      metadataLevel: observed.acted?.facts?.metadataLevel,
      externalLogging: observed.externalLogging,
      podSetVersion: observed.podSetVersion,
      ports: {
        services: observed.services,
        servicesElsewhere: new Map(
          [...(observed.targets ?? [])].map(([name, seen]) => [name, seen.services]),
        ),
        others: observed.otherHostPorts,
        used: new Set([...observed.pods, ...observed.podSets.flatMap(podsIn)].flatMap(portsOfNode)),
        range: HOST_PORTS,
      },
    },
    settings,
  );
}

/** An operator that has joined nothing has no other clusters to speak of. */
const joinedOf = ({ targets }: Observed, { centralId }: ReadingSettings) =>
  targets && targets.size > 0 ? { clusters: new Set(targets.keys()), central: centralId } : undefined;
