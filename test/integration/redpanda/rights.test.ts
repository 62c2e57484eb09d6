/** The redpanda road with exactly the rights that `isthmus install --roads redpanda,pod-sets` grants. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { operatorManifests } from '../../../src/control/install/manifests.ts';
import { LEADER_RULES, operatorRules } from '../../../src/control/install/rbac.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { PATIENCE } from '../brokers/fixture.ts';
import { accountKubeconfig, untilGranted } from '../control/account.ts';
import { createAudit, rightsOf } from '../control/audit.ts';
import type { Audit } from '../control/audit.ts';
import { apply } from '../control/harness.ts';
import { cluster, startPlane, startRedpandaBed, untilQuiescent } from './fixture.ts';

const NAMESPACE = 'isthmus-system';
const ROADS = ['redpanda', 'pod-sets'] as const;

suite('rights of the redpanda road', () => {
  let plane: ControlPlane;
  let audit: Audit;
  before(async () => {
    audit = createAudit(`system:serviceaccount:${NAMESPACE}:isthmus-operator`);
    plane = await startPlane({ apiServerArgs: audit.args });
    await apply(
      plane,
      ...operatorManifests({ namespace: NAMESPACE, image: 'isthmus:test', replicas: 1, roads: ROADS }),
    );
    await untilGranted(plane, NAMESPACE, ['list', 'statefulsets', '-A']);
  });
  after(() => plane?.stop());

  test('they are enough for an exposed cluster that comes, is rolled and goes, and none is idle', async () => {
    const kubeconfig = await accountKubeconfig(plane, NAMESPACE);
    const bed = await startRedpandaBed(plane, { operator: { kubeconfig, namespace: NAMESPACE } });
    try {
      const exposed = { replicas: 1, externalDNSSubdomain: 'one.example.test' };
      await bed.apply(cluster('one', exposed));
      await untilQuiescent(bed, 'one');
      const first = await bed.podUid('one-0');
      await bed.apply(cluster('one', { ...exposed, annotations: { a: 'b' }, podDisruptionBudget: { enabled: false } })); // prettier-ignore
      await waitFor('the broker was restarted', async () => ![undefined, first].includes(await bed.podUid('one-0')), PATIENCE); // prettier-ignore
      await untilQuiescent(bed, 'one');
      assert.equal(await bed.get('PodDisruptionBudget', 'one'), undefined);
      await bed.plane.kubectl(['delete', 'clusters.redpanda.vectorized.io', 'one']);
      const isGone = async () =>
        (await bed.get('StatefulSet', 'one')) === undefined && (await bed.get('Pod', 'one-0')) === undefined;
      await waitFor('all of it is gone', isGone, PATIENCE);
      assert.ok(await bed.get('PersistentVolumeClaim', 'datadir-one-0'), 'its disk stays');
    } finally {
      await bed.close();
    }
    // What the pod-sets road does for pod sets is the business of another test.
    const others = new Set(rightsOf(operatorRules(['pod-sets'])));
    const own = new Set(rightsOf(operatorRules(['redpanda'])));
    const granted = rightsOf([...operatorRules(ROADS), ...LEADER_RULES]);
    const idle = () => {
      const used = audit.used();
      const isOurs = (right: string) => own.has(right) || !others.has(right);
      return [...granted].filter((right) => isOurs(right) && !used.has(right) && !isForRareCases(right));
    };
    // The server answers first, and writes the log then.
    await waitFor('the log', async () => idle().length === 0, { timeoutMs: 30_000 }).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audit.refused(), []);
  });
});

/** What one example does not come to. */
const isForRareCases = (right: string) =>
  // Read again when somebody else was quicker to write the status.
  /^get (clusters\.redpanda\.vectorized\.io|redpandaanchors\.isthmus\.dev)$/.test(right) ||
  // Counted up when the same event comes again.
  right === 'patch events.events.k8s.io' ||
  // Whatever it makes, a stranger may have changed beyond repair by apply.
  right.startsWith('update ');
