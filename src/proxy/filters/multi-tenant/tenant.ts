import type { ApiName } from '../../../kafka/apis.ts';
import { changeMemberRequest, changeMemberResponse } from '../../../kafka/consumer-protocol.ts';
import {
  changeNames,
  changeTold,
  configResourcesIn,
  CONFIG_GROUP,
  CONFIG_TOPIC,
} from '../../../kafka/names.ts';
import type { NameKind } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';

/** From a tenant's names to the cluster's, and back. Pure: all that it needs to know is the prefix. */

/** What a coordinator is asked for. */
const COORDINATOR_GROUP = 0;
const COORDINATOR_TRANSACTION = 1;

/** A name as the cluster has it. Without a name there is nothing to hide, and a broker refuses it; but there is a group without one. */
export function outward(prefix: string, kind: NameKind, name: string): string {
  return name === '' && kind !== 'groupId' ? '' : prefix + name;
}

/** A name as its tenant knows it; undefined if it is not the tenant's. */
export function inward(prefix: string, name: string): string | undefined {
  if (name === '') return '';
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Why a request must not go on, before anything of it is changed; undefined if it may. */
export function refusalOf(
  api: ApiName,
  request: Requests[ApiName],
): 'CLUSTER_AUTHORIZATION_FAILED' | undefined {
  const isForeign =
    api === 'FindCoordinator'
      ? (request as Requests['FindCoordinator']).keyType > COORDINATOR_TRANSACTION
      : configResourcesIn(api, request).some(
          ({ resourceType }) => resourceType !== CONFIG_TOPIC && resourceType !== CONFIG_GROUP,
        );
  return isForeign ? 'CLUSTER_AUTHORIZATION_FAILED' : undefined;
}

/** Gives all names of a request the prefix, in place. */
export function toCluster(prefix: string, api: ApiName, request: Requests[ApiName]): void {
  changeNames(`${api}Request`, request, (kind, name) => outward(prefix, kind, name));
  if (api === 'FindCoordinator') {
    const asked = request as Requests['FindCoordinator'];
    const kind = asked.keyType === COORDINATOR_GROUP ? 'groupId' : 'transactionalId';
    asked.key = outward(prefix, kind, asked.key);
    asked.coordinatorKeys = asked.coordinatorKeys.map((key) => outward(prefix, kind, key));
  }
  for (const resource of configResourcesIn(api, request))
    resource.resourceName = prefix + resource.resourceName;
  // Or the coordinator would let offsets of topics expire to which the group subscribes.
  changeMemberRequest(api, request, (name) => outward(prefix, 'topicName', name));
}

/** Takes the prefix from all names of a response, in place, and what is not the tenant's out of its lists. */
export function toTenant(prefix: string, api: ApiName, response: Responses[ApiName]): void {
  changeNames(`${api}Response`, response, (_kind, name) => inward(prefix, name));
  if (api === 'FindCoordinator')
    for (const coordinator of (response as Responses['FindCoordinator']).coordinators)
      coordinator.key = inward(prefix, coordinator.key) ?? '';
  for (const resource of configResourcesIn(api, response))
    resource.resourceName = inward(prefix, resource.resourceName) ?? '';
  changeMemberResponse(api, response, (name) => inward(prefix, name));
  changeTold(response, (text) => text.replaceAll(prefix, ''));
}
