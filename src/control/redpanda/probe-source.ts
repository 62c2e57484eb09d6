/** What the probe of Redpanda clusters looks at. Their Secrets are nobody's business here, so any authority is taken, and logins are left to others. */
import { keyOf, nameOfKey } from '../../kube/object.ts';
import { redpandaAnchor } from '../../resources/isthmus/redpanda-anchor.ts';
import type { ToldListener } from '../brokers/expose/told.ts';
import { lookAt } from '../brokers/probe/look.ts';
import type { Access, Eyes } from '../brokers/probe/look.ts';
import type { ProbeSource } from '../brokers/probe/reconcile.ts';
import { read } from '../kernel/read.ts';
import { isManaged } from './front/cluster.ts';
import { anchorName, externalName } from './names.ts';
import type { RedpandaViews } from './watches.ts';

const accessTo = async ({ tls, authentication }: ToldListener): Promise<Access> => ({
  tls: tls ? { minVersion: 'TLSv1.2' } : undefined,
  anyAuthority: true,
  withoutLogin: authentication === 'scram-sha-512',
  withoutCertificate: authentication === 'tls',
});

export function redpandaSource(views: RedpandaViews, eyes: Eyes): ProbeSource {
  return {
    isExpected(key) {
      const cluster = views.clusters?.get(key);
      return cluster !== undefined && isManaged(cluster);
    },
    anchorOf(key) {
      const { namespace, name } = nameOfKey(key);
      const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
      return anchor && read(redpandaAnchor, anchor).resource;
    },
    dnsEndpointsOf(key) {
      const { namespace, name } = nameOfKey(key);
      const found = views.dnsEndpoints?.get(keyOf({ namespace, name: externalName(name) }));
      return views.dnsEndpoints && [found ?? []].flat();
    },
    look: (_key, listeners) => lookAt(listeners, accessTo, eyes),
  };
}
