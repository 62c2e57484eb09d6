/** What an earlier join was told, so that it can be run again without saying all of it. */
import { REACH_ANNOTATION } from '../../control/discover/names.ts';
import { isReachMode } from '../../control/discover/members/nodes.ts';
import { readJoinedSecret, roadsOf } from '../../control/targets/joined-secret.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { JoinFlags } from './join-command.ts';

type Remembered = Pick<
  JoinFlags,
  'roads' | 'kafkaNamespaces' | 'server' | 'reach' | 'longLived' | 'tokenLifetime'
>;

/** The flags that the Secret of a cluster stands for; none where it says nothing of use. */
export function rememberedFlags(secret: Secret | undefined): Partial<Remembered> {
  const read = secret && readJoinedSecret(secret);
  if (!secret || !read || 'problem' in read) return {};
  const reach = secret.metadata.annotations?.[REACH_ANNOTATION];
  const roads = roadsOf(secret);
  return {
    roads: [...roads],
    ...(roads.includes('stretch') && read.namespaces.length > 0 && { kafkaNamespaces: [...read.namespaces] }),
    server: read.server,
    ...(isReachMode(reach) && { reach }),
    ...(read.account ? { tokenLifetime: read.account.lifetimeSeconds } : { longLived: true }),
  };
}
