/** Takes the way of a client outside to all that clients of a Kafka are told, with certificates of the Kafka's own authorities. */
import type { ConnectionOptions } from 'node:tls';
import type { AnyObject } from '../../../kube/object.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { Resolve } from '../../../probe/resolve.ts';
import { textOf } from '../../../pki/secrets.ts';
import { viewOf } from '../certificates/seen.ts';
import type { ToldListener } from '../expose/told.ts';
import { PROBE_IDENTITY_MS, probeIdentity } from '../look/probe-identity.ts';
import type { ProbeIdentity } from '../look/probe-identity.ts';
import { CLUSTER_CA_BUNDLE, clientsCaCertName, trustBundleName } from '../model/names.ts';
import { lookAt } from './look.ts';
import type { Reported } from './metrics.ts';

const MAX_IDENTITIES = 1000;

export interface Looked {
  cluster: { namespace: string; name: string };
  listeners: readonly ToldListener[];
  secretOf: (name: string) => AnyObject | undefined;
  now: number;
}

/** Returns what looks; it keeps the certificates that it connects by for as long as they are good. */
export function createLook(
  resolve: Resolve,
  networks: readonly string[] = [],
): (looked: Looked) => Promise<Reported[]> {
  const identities = new BoundedMap<string, { identity: ProbeIdentity | undefined; until: number }>(
    MAX_IDENTITIES,
  );

  async function identityFor({ cluster, secretOf, now }: Looked): Promise<ProbeIdentity | undefined> {
    // Another authority is another Secret, and signs anew.
    const { uid, resourceVersion } = secretOf(clientsCaCertName(cluster.name))?.metadata ?? {};
    const key = `${cluster.namespace}/${cluster.name} ${uid} ${resourceVersion}`;
    const known = identities.get(key);
    if (known && now < known.until) return known.identity;
    const identity = await probeIdentity(cluster.name, secretOf, now);
    identities.set(key, { identity, until: now + PROBE_IDENTITY_MS / 2 });
    return identity;
  }

  async function tlsOf(listener: ToldListener, looked: Looked): Promise<ConnectionOptions | undefined> {
    if (!listener.tls) return undefined;
    const ca = textOf(viewOf(looked.secretOf(trustBundleName(looked.cluster.name))), CLUSTER_CA_BUNDLE);
    const identity = listener.authentication === 'tls' ? await identityFor(looked) : undefined;
    return { ca: ca ?? '', ...identity, minVersion: 'TLSv1.2' };
  }

  return (looked) => {
    const accessTo = async (listener: ToldListener) => ({
      tls: await tlsOf(listener, looked),
      withoutLogin: listener.authentication === 'scram-sha-512',
    });
    return lookAt(looked.listeners, accessTo, { resolve, networks });
  };
}
