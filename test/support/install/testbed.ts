/** Everything a normal test run needs, installed up front, so that no test waits for a build. */
import { ensureEtcd } from './etcd.ts';
import { ensureKafka } from './kafka.ts';
import { ensureKcat } from './kcat.ts';
import { ensureKubernetes } from './kubernetes.ts';
import { ensureConfluentKafka } from './python.ts';

/** Installs what is missing, with progress on stderr; quick when all is there. */
export async function ensureTestbed(): Promise<void> {
  // The downloads wait for the network, the builds for the processor: together they take as long as the builds.
  const fetches = (async () => {
    await ensureKafka();
    await ensureConfluentKafka();
    await ensureKcat();
  })();
  const builds = (async () => {
    await ensureEtcd();
    await ensureKubernetes(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl']);
  })();
  await Promise.all([fetches, builds]);
}
