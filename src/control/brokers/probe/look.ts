/** Takes the way of a client outside to all that clients of a Kafka are told. */
import type { ConnectionOptions } from 'node:tls';
import type { AnyObject } from '../../../kube/object.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { probeAll } from '../../../probe/cluster.ts';
import type { Broker } from '../../../probe/probed.ts';
import { refuseSpecial } from '../../../probe/refusal.ts';
import type { Resolve } from '../../../probe/resolve.ts';
import { textOf } from '../../../pki/secrets.ts';
import { viewOf } from '../certificates/seen.ts';
import type { ToldListener } from '../expose/told.ts';
import { PROBE_IDENTITY_MS, probeIdentity } from '../look/probe-identity.ts';
import type { ProbeIdentity } from '../look/probe-identity.ts';
import { CLUSTER_CA_BUNDLE, clientsCaCertName, trustBundleName } from '../model/names.ts';
import type { Reported } from './metrics.ts';
import { placeOf, verdictOf } from './verdict.ts';

/** Beyond this a status would be too long. */
const MAX_ENDPOINTS = 1024;
const TIMEOUT_MS = 5000;
const MAX_IDENTITIES = 1000;

export interface Looked {
  cluster: { namespace: string; name: string };
  listeners: readonly ToldListener[];
  secretOf: (name: string) => AnyObject | undefined;
  now: number;
}

/** Every broker says of all of them where clients are to go. */
function note(announced: Map<number, Set<string>>, brokers: readonly Broker[]): void {
  for (const { nodeId, host, port } of brokers) {
    const known = announced.get(nodeId);
    if (known) known.add(placeOf(host, port));
    else announced.set(nodeId, new Set([placeOf(host, port)]));
  }
}

/** Returns what looks; it keeps the certificates that it connects by for as long as they are good. */
export function createLook(
  resolve: Resolve,
  networks: readonly string[] = [],
): (looked: Looked) => Promise<Reported[]> {
  const refusal = refuseSpecial(networks);
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

  return async (looked) => {
    const reported: Reported[] = [];
    for (const listener of looked.listeners) {
      const endpoints = listener.endpoints.slice(0, MAX_ENDPOINTS - reported.length);
      const options = {
        resolve,
        refusal,
        tls: await tlsOf(listener, looked),
        withoutLogin: listener.authentication === 'scram-sha-512',
        timeoutMs: TIMEOUT_MS,
      };
      const asked = endpoints.map(({ host, port, node }) => ({
        host,
        port,
        ...(node !== undefined && { nodeId: node }),
      }));
      const announced = new Map<number, Set<string>>();
      const probed = await probeAll(asked, options, ({ brokers }) => note(announced, brokers));
      probed.forEach((one, at) =>
        reported.push({ probed: one, verdict: verdictOf(listener, endpoints[at]!, one, announced) }),
      );
    }
    return reported;
  };
}
