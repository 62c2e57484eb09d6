/** The passwords of KafkaUsers are in their Secrets and in Kafka, and nowhere else: whatever is wrong with them, and whoever refuses them. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { loggingOf } from '../../src/control/brokers/front/logging.ts';
import { actOnUsers } from '../../src/control/brokers/users/act.ts';
import { planUsers } from '../../src/control/brokers/users/plan-users.ts';
import type { ObservedUsers, UsersActed } from '../../src/control/brokers/users/plan-users.ts';
import { eventsOf } from '../../src/control/kernel/events.ts';
import type { ConditionSummary } from '../../src/control/kernel/events.ts';
import { KAFKA_EVENTS } from '../../src/control/brokers/faults.ts';
import { read } from '../../src/control/kernel/read.ts';
import { NOTHING_LEARNED } from '../../src/control/kernel/reconcile.ts';
import type { Admin } from '../../src/kafka/admin/admin.ts';
import type { Client } from '../../src/kube/http/client.ts';
import { ApiError } from '../../src/kube/http/errors.ts';
import type { AnyObject } from '../../src/kube/object.ts';
import { messageOf } from '../../src/ops/errors.ts';
import { kafkaUser } from '../../src/resources/strimzi/kafka-user.ts';
import { kafka } from '../../src/resources/strimzi/kafka.ts';
import { kafkaObject } from '../support/brokers/kafka-objects.ts';
import { CANARY, showsCanary } from '../support/canary.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const home = read(kafka, kafkaObject()).resource!;

/** What the world does: each of it has a way of its own to be told. */
const WORLDS = ['well', 'nobody in Kafka', 'Kafka fails', 'Kafka refuses', 'no right to write', 'no right to read'] as const; // prettier-ignore
type World = (typeof WORLDS)[number];

const REFUSAL = {
  error: { name: 'UNACCEPTABLE_CREDENTIAL', message: 'too few iterations', retriable: false },
};

/** A client of Kafka that knows nobody yet. It is made up: only what is said about answers is looked at here. */
function adminIn(world: World, given: string[]): Admin | undefined {
  if (world === 'nobody in Kafka') return undefined;
  const empty = async () => ({ value: [] });
  const admin = {
    quotas: empty,
    acls: empty,
    scramUsers: () => (world === 'Kafka fails' ? Promise.reject(new Error('connection lost')) : empty()),
    async alterScramUsers(changes: { user: string; password?: string }[]) {
      given.push(...changes.map(({ password = '' }) => password));
      return changes.map(({ user }) => ({ user, ...(world === 'Kafka refuses' && REFUSAL) }));
    },
  };
  return admin as unknown as Admin;
}

function clientIn(world: World, secrets: ReadonlyMap<string, AnyObject>, written: string[]): Client {
  const refuse = () => Promise.reject(new ApiError(403, 'Forbidden', 'not you'));
  const client = {
    get: async (_type: object, { name }: { name: string }) =>
      world === 'no right to read' ? refuse() : secrets.get(name),
    delete: refuse,
    async mergePatch(_type: object, _name: object, patch: object) {
      if (world === 'no right to write') return refuse();
      written.push(JSON.stringify(patch));
      return patch;
    },
  };
  return client as unknown as Client;
}

const secretOf = (name: string, data: Record<string, string>): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'kafka', labels: {} },
  data,
});

interface Case {
  world: World;
  /** Where the password is: in a Secret that the user names, or in the user's own. */
  isBrought: boolean;
  text: string;
  key: string;
}

/** Plans and acts a few times as the operator does, and gathers all that is said. */
async function sayings({ world, isBrought, text, key }: Case): Promise<{ said: string[]; given: string[] }> {
  const said: string[] = [];
  const given: string[] = [];
  const reference = { valueFrom: { secretKeyRef: { name: 'brought', key: 'password' } } };
  const user = read(kafkaUser, {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaUser',
    metadata: { name: 'alice', namespace: 'kafka', uid: 'uid-alice', generation: 1 },
    spec: { authentication: { type: 'scram-sha-512', ...(isBrought && { password: reference }) } },
  } as AnyObject).resource!;
  const log = pino({ level: 'trace' }, { write: (line: string) => void said.push(line) });
  const brought = new Map([['brought', secretOf('brought', { [key]: base64(text) })]]);
  const context = {
    client: clientIn(world, brought, said),
    admin: adminIn(world, given),
    events: { record: (_: unknown, notice: object) => void said.push(JSON.stringify(notice)) },
    log,
    now: new Date(),
  };
  let secret = isBrought ? undefined : secretOf('alice', { [key]: base64(text) });
  let acted: UsersActed | undefined;
  for (let round = 0; round < 4; round++) {
    const observed: ObservedUsers = {
      namespace: 'kafka',
      cluster: 'events',
      home,
      users: [{ user, secret }],
      unreadable: [],
      authority: undefined,
      isUnclear: false,
      acted,
    };
    const { targets, statuses, actions } = planUsers(observed, NOTHING_LEARNED);
    const objects = targets.flatMap((target) => target.objects);
    secret = objects.find(({ kind }) => kind === 'Secret') ?? secret;
    said.push(
      ...objects.filter(({ kind }) => kind !== 'Secret').map((one) => JSON.stringify(one)),
      ...objects.map(({ metadata }) => JSON.stringify(metadata)),
      ...statuses.map((one) => JSON.stringify(one)),
      ...statuses.flatMap(({ kind, status }) => {
        const { conditions = [] } = status as { conditions?: ConditionSummary[] };
        return eventsOf(KAFKA_EVENTS, kind, [], conditions).map((one) => JSON.stringify(one));
      }),
    );
    for (const action of actions)
      acted = await actOnUsers(action, acted, context, AbortSignal.timeout(60_000)).catch(
        (error: unknown) => {
          said.push(messageOf(error));
          return acted;
        },
      );
  }
  return { said, given };
}

suite('what the operator says of users', () => {
  test('has no password in it', async () => {
    const toldOf = new Set<World>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...WORLDS),
        fc.boolean(),
        fc.constantFrom(CANARY, `${CANARY}\n`, `"${CANARY}\\`, CANARY.repeat(100), `x\0${CANARY}`),
        fc.constantFrom('password', 'sasl.jaas.config', 'another'),
        async (world, isBrought, text, key) => {
          const { said, given } = await sayings({ world, isBrought, text, key });
          for (const line of said) assert.ok(!showsCanary(line), line);
          if (given.some((password) => password.includes(CANARY))) toldOf.add(world);
        },
      ),
      { numRuns: 200 },
    );
    // It was really there to be told: Kafka was given it, whether it took it or not.
    assert.deepEqual([...toldOf].toSorted(), ['Kafka refuses', 'no right to read', 'well']);
  });

  test('tells what is wrong all the same', async () => {
    for (const [world, expected] of [
      ['Kafka refuses', /KafkaRefused/],
      ['no right to write', /Denied/],
      ['nobody in Kafka', /"status":"(False|Unknown)"/],
    ] as const) {
      const { said } = await sayings({ world, isBrought: false, text: CANARY, key: 'password' });
      assert.match(said.join('\n'), expected, world);
    }
  });
});

test('what is said of a ConfigMap with logging quotes nothing of it', () => {
  const logging = {
    type: 'external',
    valueFrom: { configMapKeyRef: { name: 'logging', key: 'log4j2.properties' } },
  };
  for (const text of [CANARY, `${CANARY} = {`, `logger.${CANARY}.level = x\n`, CANARY.repeat(20_000)]) {
    const { faults } = loggingOf(kafkaObject({ logging }), text);
    assert.ok(!showsCanary(JSON.stringify(faults)), text.slice(0, 40));
  }
  assert.equal(loggingOf(kafkaObject({ logging }), CANARY.repeat(20_000)).faults.length, 1);
});
