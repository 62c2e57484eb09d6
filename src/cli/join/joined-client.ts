import { createClient } from '../../kube/http/client.ts';
import type { Client } from '../../kube/http/client.ts';
import { connectionOf, parseKubeconfig } from '../../kube/http/kubeconfig.ts';

/** Works with a client by a kubeconfig's text, as the operator does. */
export async function withJoined<T>(kubeconfig: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = createClient(
    connectionOf(parseKubeconfig(kubeconfig, 'the kubeconfig of the joined cluster')),
  );
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
