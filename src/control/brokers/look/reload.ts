/** Has brokers load certificates while they run, and looks at each whether it has, by connecting to its pod. */
import { X509Certificate } from 'node:crypto';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { Client } from '../../../kube/http/client.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import {
  loadingOf,
  markOf,
  reloadedAnnotations,
  trustingAnnotations,
  wantedHash,
} from '../../../pki/bundle.ts';
import { certificateHash } from '../../../pki/leaf.ts';
import { textOf } from '../../../pki/secrets.ts';
import { FIELD_MANAGER } from '../../kernel/field-manager.ts';
import { nextReload, settlesInMs } from '../certificates/reloading.ts';
import type { Reloading } from '../certificates/reloading.ts';
import { viewOf } from '../certificates/seen.ts';
import { KEY_STORE_SETTING } from '../config/properties.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { Listener } from '../model/cluster.ts';
import { REPLICATION_PORT, nodeHost, podName } from '../model/names.ts';
import { podFacts } from '../roll/pod-facts.ts';
import type { Identity } from './connect.ts';
import { probeIdentity } from './probe-identity.ts';
import type { ProbeIdentity } from './probe-identity.ts';
import { presentedAt, requireTaken } from './presented.ts';
import type { WantedNodes } from './roll-input.ts';

export interface ReloadContext {
  wanted: WantedNodes;
  pods: readonly AnyObject[];
  brokers: Admin;
  tls: Identity;
  /** Of a Kubernetes cluster by its name. */
  client: (cluster?: string) => Client;
  secretOf: (name: string) => AnyObject | undefined;
  clock: () => number;
  /** Tells people of a node that has loaded. */
  tell: (node: string) => void;
}

/** By uid of a pod. */
export type Reloads = ReadonlyMap<string, Reloading>;

/** A broker that runs with other certificates than it should. */
interface Outdated {
  id: number;
  name: string;
  /** The Kubernetes cluster that it is in. */
  target: string;
  uid: string;
  host: string;
  loaded: Readonly<Record<string, string>>;
  wanted: Readonly<Record<string, string>>;
}

/** Takes the next step for each broker that is to reload, but not for `except`, which is being restarted. Returns what is under way. */
export async function reloadCertificates(
  context: ReloadContext,
  before: Reloads,
  except: number | undefined,
  signal: AbortSignal,
): Promise<Reloads> {
  const { clock, wanted } = context;
  const outdated = outdatedAmong(context).filter(({ id }) => id !== except);
  if (outdated.length === 0) return new Map();
  const probe = await probeIdentity(wanted.cluster.name, context.secretOf, clock());
  const settlesMs = settlesInMs(wanted.policy);
  const isProof = probe !== undefined || !wanted.cluster.listeners.some(isForCertificates);
  const after = new Map<string, Reloading>();
  for (const broker of outdated) {
    const mark = markOf(broker.wanted);
    const seen = await problemOf(broker, context, probe);
    const step = nextReload(mark, seen, before.get(broker.uid), { now: clock(), settlesMs });
    const refusal = step.do === 'ask' ? await ask(broker, context) : undefined;
    // Its listeners have been seen to take what the newest clients' authority signs.
    const trusting =
      seen === undefined && isProof ? trustingAnnotations(broker.loaded, broker.wanted) : undefined;
    if (step.do === 'record') {
      await annotate(broker, reloadedAnnotations(broker.wanted), context, signal);
      context.tell(broker.name);
    } else {
      if (trusting) await annotate(broker, trusting, context, signal);
      after.set(broker.uid, { ...step.state, problem: refusal ?? step.state.problem });
    }
  }
  return after;
}

function outdatedAmong({ wanted, pods }: Pick<ReloadContext, 'wanted' | 'pods'>): Outdated[] {
  const { cluster } = wanted;
  const live = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return nodesOf(cluster).flatMap(({ pool, node }): Outdated[] => {
    const name = podName(cluster.name, pool.name, node.id);
    const pod = live.get(name);
    const annotations = wanted.pods.get(name)?.metadata.annotations;
    if (!pod || !annotations || !hasRole(node, 'broker') || wanted.unreachable.has(pool.target)) return [];
    const { ready, uid } = podFacts(pod);
    const { podIP: host } = (pod['status'] ?? {}) as { podIP?: string };
    const loaded = pod.metadata.annotations ?? {};
    if (!ready || host === undefined || !loadingOf(loaded, annotations).reload) return [];
    return [{ id: node.id, name, target: pool.target, uid, host, loaded, wanted: annotations }];
  });
}

/** What of a broker's listeners is not as it should be. */
async function problemOf(
  { name, host, wanted }: Outdated,
  { wanted: { cluster }, tls, secretOf }: ReloadContext,
  probe: ProbeIdentity | undefined,
): Promise<string | undefined> {
  const chain = textOf(viewOf(secretOf(name)), `${name}.crt`) ?? '';
  if (certificateHash(chain) !== wantedHash(wanted)) return 'its Secret is being written';
  const expected = new X509Certificate(chain).fingerprint256;
  const common = {
    servername: nodeHost(cluster.name, cluster.namespace, name),
    minVersion: 'TLSv1.2',
  } as const;
  const between = { port: REPLICATION_PORT, identity: tls, takesProbe: false };
  for (const { port, identity, takesProbe } of [
    between,
    ...cluster.listeners.flatMap(clientSide(tls, probe)),
  ]) {
    const asked = { host, port, tls: { ...common, ...identity } };
    try {
      if ((await presentedAt(asked)) !== expected) return `port ${port} presents another certificate`;
      if (takesProbe) await requireTaken(asked);
    } catch (error) {
      return `port ${port}: ${messageOf(error)}`;
    }
  }
  return undefined;
}

const isForCertificates = ({ authentication }: Listener) => authentication === 'tls';

/** How to connect to a listener of clients; one without TLS has nothing to look at. */
const clientSide =
  ({ ca }: Identity, probe: ProbeIdentity | undefined) =>
  (listener: Listener) =>
    listener.tls
      ? [
          {
            port: listener.port,
            identity: { ca, ...probe },
            takesProbe: isForCertificates(listener) && probe !== undefined,
          },
        ]
      : [];

/**
 * Whenever something of a broker's own configuration is written, even what it was, Kafka looks whether the files of its listeners
 * have changed. Taking away what is not there leaves nothing behind that could outlive the files.
 */
async function ask({ id }: Outdated, { brokers }: ReloadContext): Promise<string | undefined> {
  try {
    const changes = [{ name: KEY_STORE_SETTING, change: 'delete' as const }];
    const [result] = await brokers.alterConfigs([
      { resource: { type: 'broker', name: String(id) }, changes },
    ]);
    return result?.error?.message;
  } catch (error) {
    return messageOf(error);
  }
}

const POD = { group: '', version: 'v1', kind: 'Pod' };

async function annotate(
  { name, target, uid }: Outdated,
  annotations: Readonly<Record<string, string>>,
  { client, wanted: { cluster } }: ReloadContext,
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { uid, annotations } };
  try {
    await client(target).mergePatch(POD, { namespace: cluster.namespace, name }, patch, {
      fieldManager: FIELD_MANAGER,
      signal,
    });
  } catch (error) {
    // Another pod by now, which has loaded everything.
    if (!hasStatus(error, 404) && !hasStatus(error, 409)) throw error;
  }
}
