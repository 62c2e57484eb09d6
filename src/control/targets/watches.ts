/** What is followed in the program's own namespace: the kubeconfigs of joined clusters. */
import { core } from '../kernel/watches.ts';
import type { View, WatchTable } from '../kernel/watches.ts';
import { CLUSTER_LABEL } from './names.ts';

export interface JoinViews {
  secrets: View;
}

export const JOIN_WATCHES: WatchTable<JoinViews> = {
  // To renew a token, its Secret is patched: `isthmus join` gives the right to that one alone.
  secrets: { kind: core('Secret', 'secrets'), labelSelector: CLUSTER_LABEL },
};
