/** The cluster under test: three nodes that are both, and how one asks it how it is, without the operator. */
import { openAdmin } from '../../src/kafka/admin/admin.ts';
import type { Admin } from '../../src/kafka/admin/admin.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { kafka, nodePool } from '../../test/integration/brokers/fixture.ts';
import type { PodRunner } from '../../test/support/pods/runner.ts';

export const NAME = 'bench';
const POOL = 'dual';
export const POD_SET = `${NAME}-${POOL}`;
export const NODES = [0, 1, 2];
export const podOf = (id: number): string => `${POD_SET}-${id}`;
const PLAIN_PORT = 9092;
export const BOOTSTRAP = `${NAME}-kafka-bootstrap.default.svc:${PLAIN_PORT}`;

const LISTENERS = [
  { name: 'plain', port: PLAIN_PORT, type: 'internal', tls: false },
  { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
  { name: 'scram', port: 9094, type: 'internal', tls: true, authentication: { type: 'scram-sha-512' } },
];
const CONFIG = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
};

/** What a user applies. Who has not logged in may do everything, so that the load needs no credentials. */
export const WISH: readonly AnyObject[] = [
  kafka(
    NAME,
    {
      listeners: LISTENERS,
      config: CONFIG,
      authorization: { type: 'simple', superUsers: ['ANONYMOUS'] },
    },
    { entityOperator: { topicOperator: {}, userOperator: {} } },
  ),
  nodePool(NAME, POOL, { replicas: NODES.length }),
];

/** A client of the brokers by the addresses of their pods; undefined while one has none. */
function connect(runner: PodRunner): Admin | undefined {
  const hosts = NODES.map((id) => runner.addressOf(`default/${podOf(id)}`));
  const addresses = hosts.flatMap((host) => (host === undefined ? [] : [{ host, port: PLAIN_PORT }]));
  if (addresses.length < NODES.length) return undefined;
  return openAdmin({ bootstrap: addresses, addressOf: (id) => addresses[id] });
}

async function asked(runner: PodRunner, question: (admin: Admin) => Promise<boolean>): Promise<boolean> {
  const admin = connect(runner);
  try {
    return admin !== undefined && (await question(admin));
  } catch {
    return false; // it does not answer yet
  } finally {
    admin?.close();
  }
}

/** Whether the controllers have a leader, and all brokers are at work. */
export const answers = (runner: PodRunner): Promise<boolean> =>
  asked(runner, async (admin) => {
    const { value: quorum } = await admin.quorum();
    const { value: cluster } = await admin.cluster();
    const active = cluster?.nodes.filter(({ fenced }) => !fenced) ?? [];
    return (quorum?.leaderId ?? -1) >= 0 && active.length === NODES.length;
  });

/** A controller that was heard of so long ago is behind: Kafka's own `controller.quorum.fetch.timeout.ms`. */
const CAUGHT_UP_MS = 2000;

/** Whether another node may be restarted: every partition has all of its replicas in sync, every controller is up to date. */
export const isWhole = (runner: PodRunner): Promise<boolean> =>
  asked(runner, async (admin) => {
    const { value: quorum } = await admin.quorum();
    if (!quorum || quorum.leaderId < 0 || quorum.voters.length < NODES.length) return false;
    const latest = Math.max(...quorum.voters.map(({ lastCaughtUpAt }) => lastCaughtUpAt ?? -1));
    if (quorum.voters.some(({ lastCaughtUpAt }) => (lastCaughtUpAt ?? -1) < latest - CAUGHT_UP_MS))
      return false;
    for await (const { value } of admin.topics())
      if (!value || value.some(({ partitions }) => partitions.some(isShort))) return false;
    return true;
  });

const isShort = ({ isr, replicas }: { isr: readonly number[]; replicas: readonly number[] }) =>
  isr.length < replicas.length;
