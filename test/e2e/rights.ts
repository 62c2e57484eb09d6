import type { Cluster } from '../support/clusters/cluster.ts';
import { waitFor } from '../../src/store/embedded/process.ts';

/** Whether an account may do this, as the API server says. Asked again while nobody answers. */
export function may(cluster: Cluster, account: string, ...what: string[]): Promise<string> {
  const question = ['auth', 'can-i', ...what, `--as=system:serviceaccount:${account}`];
  return waitFor(`an answer about ${what.join(' ')}`, async () => {
    const { stdout } = await cluster.tryKubectl(question);
    return /^(yes|no)$/m.exec(stdout)?.[0];
  });
}
