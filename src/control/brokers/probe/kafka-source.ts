/** What the probe of Kafkas looks at, and by which certificates. */
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import { textOf } from '../../../pki/secrets.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { read } from '../../kernel/read.ts';
import type { Watched } from '../../kernel/watches.ts';
import { dnsEndpointName } from '../expose/names.ts';
import type { ToldListener } from '../expose/told.ts';
import { viewOf } from '../certificates/seen.ts';
import { isManaged } from '../front/kafka.ts';
import {
  CLUSTER_CA_BUNDLE,
  anchorName,
  clientsCaCertName,
  clientsCaName,
  trustBundleName,
} from '../model/names.ts';
import type { KafkaViews } from '../watches.ts';
import { createLook } from './kafka-look.ts';
import type { Eyes } from './look.ts';
import type { VantageSource } from '../vantage/reconcile.ts';
import type { ProbeSource } from './reconcile.ts';

export function kafkaSource(
  caches: Watched<KafkaViews>,
  told: ReadonlyMap<string, readonly ToldListener[]>,
  { resolve, networks }: Eyes,
): ProbeSource & VantageSource {
  const { views } = caches;
  const look = createLook(resolve, networks);
  return {
    load(key, signal) {
      const { namespace, name } = nameOfKey(key);
      const isTls = told.get(key)?.some(({ tls }) => tls) ?? false;
      const names = [trustBundleName(name), clientsCaName(name), clientsCaCertName(name)];
      const secrets = isTls ? names.map((secret) => keyOf({ namespace, name: secret })) : [];
      return caches.load(`kafka-probe ${key}`, { secrets }, signal);
    },
    isExpected(key) {
      const kafka = views.kafkas?.get(key);
      return kafka !== undefined && isManaged(kafka);
    },
    anchorOf(key) {
      const { namespace, name } = nameOfKey(key);
      const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
      return anchor && read(kafkaAnchor, anchor).resource;
    },
    dnsEndpointsOf(key, listeners) {
      const { namespace, name } = nameOfKey(key);
      const { dnsEndpoints } = views;
      return (
        dnsEndpoints &&
        listeners.flatMap(
          (one) => dnsEndpoints.get(keyOf({ namespace, name: dnsEndpointName(name, one.name) })) ?? [],
        )
      );
    },
    trustOf(key) {
      const { namespace, name } = nameOfKey(key);
      return textOf(viewOf(views.secrets.get(keyOf({ namespace, name: trustBundleName(name) }))), CLUSTER_CA_BUNDLE); // prettier-ignore
    },
    look(key, listeners, now) {
      const { namespace = '', name } = nameOfKey(key);
      const secretOf = (secret: string) => views.secrets.get(keyOf({ namespace, name: secret }));
      return look({ cluster: { namespace, name }, listeners, secretOf, now });
    },
  };
}
