import { answerOf, faultOf, mapAnswer } from './answer.ts';
import type { Answer, ItemResult } from './answer.ts';
import type { Send } from './routing.ts';

// Kafka's names by Kafka's numbers; 0 is what a newer Kafka may have, and this client does not know.
const RESOURCE_TYPES = [
  'unknown',
  'any',
  'topic',
  'group',
  'cluster',
  'transactionalId',
  'delegationToken',
  'user',
] as const;
const PATTERN_TYPES = ['unknown', 'any', 'match', 'literal', 'prefix'] as const;
const PERMISSIONS = ['unknown', 'any', 'deny', 'allow'] as const;
const OPERATIONS = [
  'unknown',
  'any',
  'All',
  'Read',
  'Write',
  'Create',
  'Delete',
  'Alter',
  'Describe',
  'ClusterAction',
  'DescribeConfigs',
  'AlterConfigs',
  'IdempotentWrite',
  'CreateTokens',
  'DescribeTokens',
  'TwoPhaseCommit',
] as const;

/** What ACLs can be about, and what they allow or forbid: what this client can write. */
export const ACL_RESOURCES = RESOURCE_TYPES.filter((name) => name !== 'unknown' && name !== 'any');
export const ACL_OPERATIONS = OPERATIONS.filter((name) => name !== 'unknown' && name !== 'any');

type Named<T extends readonly string[]> = Exclude<T[number], 'any' | 'match'>;

/** The names are those of a KafkaUser's ACLs. `unknown` comes from a newer Kafka, and cannot be written. */
export interface Acl {
  resourceType: Named<typeof RESOURCE_TYPES>;
  /** `kafka-cluster` for the cluster. */
  resourceName: string;
  patternType: Named<typeof PATTERN_TYPES>;
  /** As in `User:alice`. */
  principal: string;
  host: string;
  operation: Named<typeof OPERATIONS>;
  permission: Named<typeof PERMISSIONS>;
}

/** What is left out matches everything. Pattern type `match` finds all that apply to the resource's name. */
export type AclFilter = Partial<Omit<Acl, 'patternType'>> & { patternType?: Acl['patternType'] | 'match' };

interface WireAcl {
  resourceType: number;
  resourceName: string;
  patternType: number;
  principal: string;
  host: string;
  operation: number;
  permissionType: number;
}

const nameOf = <T extends readonly string[]>(names: T, index: number) =>
  (names[index] ?? 'unknown') as Named<T>;

const aclOf = (acl: WireAcl): Acl => ({
  resourceType: nameOf(RESOURCE_TYPES, acl.resourceType),
  resourceName: acl.resourceName,
  patternType: nameOf(PATTERN_TYPES, acl.patternType),
  principal: acl.principal,
  host: acl.host,
  operation: nameOf(OPERATIONS, acl.operation),
  permission: nameOf(PERMISSIONS, acl.permissionType),
});

const filterOf = (filter: AclFilter) => ({
  resourceTypeFilter: RESOURCE_TYPES.indexOf(filter.resourceType ?? 'any'),
  resourceNameFilter: filter.resourceName ?? null,
  patternTypeFilter: PATTERN_TYPES.indexOf(filter.patternType ?? 'any'),
  principalFilter: filter.principal ?? null,
  hostFilter: filter.host ?? null,
  operation: OPERATIONS.indexOf(filter.operation ?? 'any'),
  permissionType: PERMISSIONS.indexOf(filter.permission ?? 'any'),
});

/** Calls about who may do what. */
export function aclCalls(send: Send) {
  return {
    async acls(filter: AclFilter = {}): Promise<Answer<Acl[]>> {
      const answer = await send('DescribeAcls', filterOf(filter));
      return mapAnswer(answer, (response) =>
        answerOf(response, () =>
          response.resources.flatMap(({ acls, ...resource }) =>
            acls.map((acl) => aclOf({ ...resource, ...acl })),
          ),
        ),
      );
    },

    /** What exists already is no error. One result for each, in their order. */
    async createAcls(acls: readonly Acl[]): Promise<ItemResult[]> {
      const creations = acls.map((acl) => ({
        resourceType: RESOURCE_TYPES.indexOf(acl.resourceType),
        resourceName: acl.resourceName,
        resourcePatternType: PATTERN_TYPES.indexOf(acl.patternType),
        principal: acl.principal,
        host: acl.host,
        operation: OPERATIONS.indexOf(acl.operation),
        permissionType: PERMISSIONS.indexOf(acl.permission),
      }));
      const { value, error } = await send('CreateAcls', { creations });
      if (error) return acls.map(() => ({ error }));
      return value.results.map(({ errorCode, errorMessage }) => ({
        error: faultOf(errorCode, errorMessage),
      }));
    },

    /** Deletes all that match a filter. One result for each filter, in their order, with what was deleted. */
    async deleteAcls(filters: readonly AclFilter[]): Promise<Answer<Acl[]>[]> {
      const { value, error } = await send('DeleteAcls', { filters: filters.map(filterOf) });
      if (error) return filters.map(() => ({ error }));
      return value.filterResults.map((result) => {
        const failed = result.matchingAcls.find(({ errorCode }) => errorCode !== 0);
        return answerOf(failed ?? result, () => result.matchingAcls.map(aclOf));
      });
    },
  };
}
