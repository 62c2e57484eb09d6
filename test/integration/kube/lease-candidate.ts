/**
 * A process that takes part in an election and prints when it leads. Run by lease.test.ts. The times are of a clock that all
 * processes of a machine share.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../../src/kube/http/client.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import { runElection } from '../../../src/kube/controller/lease.ts';
import { log } from './harness.ts';

const [kubeconfig = '', identity = '', leaseDurationMs = '0'] = process.argv.slice(2);
const duration = Number(leaseDurationMs);
const client = createClient(loadConnection({ file: kubeconfig }));
const microsNow = () => Number(process.hrtime.bigint() / 1000n);
const say = (what: string, at = microsNow()) => process.stdout.write(`${what} ${at}\n`);

const election = runElection({
  client: () => client,
  namespace: 'default',
  name: 'election',
  identity,
  leaseDurationMs: duration,
  renewDeadlineMs: duration * (2 / 3),
  retryPeriodMs: duration / 8,
  log,
  async lead(signal) {
    say('begin');
    // Each line claims: at this moment nobody else leads. The time is taken first, since we may be stopped in between.
    while (!signal.aborted) {
      const at = microsNow();
      if (election.isLeader()) say('lead', at);
      await delay(5);
    }
    say('end');
  },
});
process.stdout.write('ready 0\n');
process.on('SIGTERM', () => {
  void election
    .stop()
    .then(() => client.close(0))
    .then(() => process.exit(0));
});
