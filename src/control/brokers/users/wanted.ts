/** What a KafkaUser asks for, checked. Pure. */
import { ACL_OPERATIONS, ACL_RESOURCES } from '../../../kafka/admin/acls.ts';
import type { Acl } from '../../../kafka/admin/acls.ts';
import type { KafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { EntityFault } from '../entities/faults.ts';
import { besides } from '../front/ignored.ts';

export interface WantedUser {
  /** As Kafka knows it, without `User:`. */
  username: string;
  credentials: 'certificate' | 'password' | undefined;
  /** Undefined where the resource says nothing of them: then they are somebody else's business. */
  acls: readonly Acl[] | undefined;
  /** By Kafka's names. */
  quotas: Readonly<Record<string, number>>;
}

/** What an X.509 common name may have. */
const LONGEST_COMMON_NAME = 64;

/** How Kafka calls a user that logs in with a certificate. */
export const certificateName = (name: string): string => `CN=${name}`;

/** The name that Kafka makes of how the user logs in. */
const usernameOf = ({ metadata, spec }: KafkaUser): string =>
  spec.authentication?.type.startsWith('tls') ? certificateName(metadata.name) : metadata.name;

export function wantedUser(user: KafkaUser): { wanted: WantedUser; faults: EntityFault[] } {
  const { metadata, spec } = user;
  const type = spec.authentication?.type;
  const username = usernameOf(user);
  const faults: EntityFault[] = [];
  if (type === 'tls' && metadata.name.length > LONGEST_COMMON_NAME)
    faults.push(
      invalid(['metadata', 'name'], `the name of a TLS user has at most ${LONGEST_COMMON_NAME} characters`),
    );
  const acls = aclsOf(user, `User:${username}`, faults);
  const quotas = quotasOf(user, faults);
  const credentials = type === 'tls' ? 'certificate' : type === 'scram-sha-512' ? 'password' : undefined;
  return { wanted: { username, credentials, acls, quotas }, faults };
}

/** Fields that Strimzi knows, or nobody, and that nothing comes of here. */
export function ignoredInUser({ spec }: KafkaUser): EntityFault[] {
  const adviceOn = (field: string) =>
    field === 'template'
      ? 'the Secret of a user has no labels or annotations but the operator’s own'
      : 'remove it';
  return [
    ...besides(['authentication', 'authorization', 'quotas'], spec, ['spec'], '', adviceOn),
    ...besides(['type', 'password'], spec.authentication, ['spec', 'authentication'], '', adviceOn),
    ...besides(['type', 'acls'], spec.authorization, ['spec', 'authorization'], '', adviceOn),
  ];
}

const invalid = (path: readonly (string | number)[], message: string): EntityFault => ({
  reason: 'Invalid',
  path,
  message,
});

function aclsOf({ spec }: KafkaUser, principal: string, faults: EntityFault[]): Acl[] | undefined {
  const { authorization } = spec;
  if (!authorization) return undefined;
  if (authorization.type !== undefined && authorization.type !== 'simple') {
    const message = `spec.authorization.type "${authorization.type}" is not supported; use "simple"`;
    faults.push({ reason: 'NotSupported', path: ['spec', 'authorization', 'type'], message });
    return undefined;
  }
  const acls = (authorization.acls ?? []).flatMap((rule, index) =>
    aclsOfRule(rule, index, principal, faults),
  );
  return [...new Map(acls.map((acl) => [aclKey(acl), acl])).values()];
}

type Rule = NonNullable<NonNullable<KafkaUser['spec']['authorization']>['acls']>[number];

function aclsOfRule(rule: Rule, index: number, principal: string, faults: EntityFault[]): Acl[] {
  const path = ['spec', 'authorization', 'acls', index] as const;
  const resource = resourceOf(rule.resource ?? {});
  if (typeof resource === 'string') {
    faults.push(invalid([...path, 'resource'], `ACL ${index + 1}: ${resource}`));
    return [];
  }
  if (rule.host.length > LONGEST_HOST) {
    faults.push(
      invalid([...path, 'host'], `ACL ${index + 1}: the host has more than ${LONGEST_HOST} characters`),
    );
    return [];
  }
  const operations = rule.operations ?? [rule['operation'] ?? 'All'];
  return operations.flatMap((operation): Acl[] => {
    const known = ACL_OPERATIONS.find((one) => one === operation);
    if (known) return [{ ...resource, principal, host: rule.host, operation: known, permission: rule.type }];
    const message = `ACL ${index + 1}: unknown operation; use ${ACL_OPERATIONS.join(', ')}`;
    faults.push(invalid([...path, 'operations'], message));
    return [];
  });
}

/** Brokers close a connection on which a text is too long for them, and no user of the request gets its answer. */
const LONGEST_NAME = 1024;
const LONGEST_HOST = 253;

type Resource = Pick<Acl, 'resourceType' | 'resourceName' | 'patternType'>;

/** What an ACL is about, or what is wrong with it. */
function resourceOf({
  type,
  name,
  patternType = 'literal',
}: Readonly<Record<string, unknown>>): Resource | string {
  const resourceType = ACL_RESOURCES.find((one) => one === type);
  if (!resourceType) return `unknown resource type; use ${ACL_RESOURCES.join(', ')}`;
  if (resourceType === 'cluster')
    return { resourceType, resourceName: 'kafka-cluster', patternType: 'literal' };
  if (typeof name !== 'string' || name === '') return 'the resource has no name; use "*" for all';
  if (name.length > LONGEST_NAME) return `the name of the resource has more than ${LONGEST_NAME} characters`;
  if (patternType !== 'literal' && patternType !== 'prefix') return 'patternType is "literal" or "prefix"';
  return { resourceType, resourceName: name, patternType };
}

/** Two ACLs are the same if all of their fields are. */
export const aclKey = (acl: Acl): string =>
  JSON.stringify([
    acl.resourceType,
    acl.resourceName,
    acl.patternType,
    acl.principal,
    acl.host,
    acl.operation,
    acl.permission,
  ]);

const QUOTAS: ReadonlyMap<string, string> = new Map([
  ['producerByteRate', 'producer_byte_rate'],
  ['consumerByteRate', 'consumer_byte_rate'],
  ['requestPercentage', 'request_percentage'],
  ['controllerMutationRate', 'controller_mutation_rate'],
]);

function quotasOf({ spec }: KafkaUser, faults: EntityFault[]): Record<string, number> {
  const quotas: Record<string, number> = {};
  for (const [name, value] of Object.entries(spec.quotas ?? {})) {
    const key = QUOTAS.get(name);
    if (key === undefined)
      faults.push(invalid(['spec', 'quotas', name], `unknown quota; use ${[...QUOTAS.keys()].join(', ')}`));
    else if (typeof value !== 'number' || !(value >= 0) || !Number.isFinite(value))
      faults.push(invalid(['spec', 'quotas', name], `spec.quotas.${name} has to be a number from 0`));
    else quotas[key] = value;
  }
  return quotas;
}
