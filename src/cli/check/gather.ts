/** Reads what the checks decide by. Whatever cannot be read is a fact of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { STATUS_NAME, statusOf } from '../../control/discover/delegation/status.ts';
import { DNS_NAME } from '../../control/discover/install.ts';
import { GRANTS_LABEL } from '../../control/discover/names.ts';
import { namespaceOfGroup } from '../../control/discover/records/claim-group.ts';
import { readGrants } from '../../control/discover/records/grants.ts';
import { OPERATOR_NAME } from '../../control/install/objects.ts';
import { OPERATOR_ROADS } from '../../control/roads.ts';
import type { OperatorRoad } from '../../control/roads.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { listOf, servedType, settle } from '../kube/read.ts';
import type { Read } from '../kube/read.ts';
import type { CheckedRoad, Crd, Facts, OperatorFacts } from './facts.ts';
import { exposeFacts } from './expose-facts.ts';
import { OPTIONAL_KINDS, RESOURCE_KINDS } from './kinds.ts';
import { reviewInstallation, reviewOperator } from './reviews.ts';

const TIMEOUT_MS = 15_000;
const CRD = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', versions: ['v1'] };
const POLICY_BINDING = {
  group: 'admissionregistration.k8s.io',
  kind: 'ValidatingAdmissionPolicyBinding',
  versions: ['v1'],
};
const GATEWAY_CLASS = { group: 'gateway.networking.k8s.io', kind: 'GatewayClass', versions: ['v1'] };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

export interface GatherOptions {
  namespace: string;
  road: CheckedRoad | undefined;
  /** Before an installation there is no operator to look at. */
  isBefore: boolean;
}

type Server = Facts['server'];
const UNASKED = { problem: 'not asked' };

export async function gatherFacts(client: Client, options: GatherOptions): Promise<Facts> {
  const { namespace, road, isBefore } = options;
  const server = (await settle(client.read('/version', { timeoutMs: TIMEOUT_MS }))) as Server;
  const base = { road, namespace, server };
  // Without an answer every other request would wait for its own timeout.
  if ('problem' in server) return { ...base, ...UNKNOWN };
  const operator = isBefore ? UNASKED : await settle(operatorFacts(client, namespace));
  const dns = isBefore ? UNASKED : await settle(deploymentFacts(client, { namespace, name: DNS_NAME }));
  const hasDns = 'problem' in dns || dns.value !== undefined;
  const crds = settle(listOf(client, CRD).then((items) => items as unknown as Crd[]));
  return {
    ...base,
    operator,
    crds: await crds,
    installRights: isBefore ? await settle(reviewInstallation(client, namespace)) : UNASKED,
    operatorRights:
      'value' in operator && operator.value
        ? await settle(reviewOperator(client, namespace, operator.value))
        : UNASKED,
    lease: isBefore ? UNASKED : await settle(leaseFacts(client, namespace)),
    policies: await settle(boundPolicies(client)),
    resources: new Map(isBefore ? [] : await readAll(RESOURCE_KINDS, (kind) => listOf(client, kind))),
    served: new Map(
      await readAll(OPTIONAL_KINDS, async (kind) => (await servedType(client, kind)) !== undefined),
    ),
    gatewayControllers: await settle(gatewayControllers(client)),
    dns,
    delegation: isBefore ? UNASKED : await settle(delegation(client, namespace)),
    grantees: isBefore || !hasDns ? { value: [] } : await settle(grantees(client, namespace)),
    ...(!isBefore && hasExposure(road, operator) && { expose: await exposeFacts(client) }),
  };
}

/** Whoever runs brokers may expose them. */
const hasExposure = (road: CheckedRoad | undefined, operator: Facts['operator']) =>
  road === 'expose' ||
  (road === undefined &&
    'value' in operator &&
    ['kafka', 'redpanda'].some((one) => operator.value?.roads.includes(one as 'kafka')));

const UNKNOWN = {
  crds: UNASKED,
  installRights: UNASKED,
  operator: UNASKED,
  operatorRights: UNASKED,
  lease: UNASKED,
  policies: UNASKED,
  resources: new Map(),
  served: new Map(),
  gatewayControllers: UNASKED,
  dns: UNASKED,
  delegation: UNASKED,
  grantees: UNASKED,
};

function readAll<K extends { kind: string }, T>(
  kinds: readonly K[],
  read: (kind: K) => Promise<T>,
): Promise<[K['kind'], Read<T>][]> {
  return Promise.all(kinds.map(async (kind) => [kind.kind, await settle(read(kind))]));
}

interface Deployment extends AnyObject {
  spec: { replicas?: number; template: { spec: { containers: { image?: string; args?: string[] }[] } } };
  status?: { readyReplicas?: number };
}

export async function deploymentFacts(client: Client, name: { namespace: string; name: string }) {
  const found = await client.get<Deployment>(DEPLOYMENT, name, { timeoutMs: TIMEOUT_MS });
  if (!found) return undefined;
  const { args = [], image } = found.spec.template.spec.containers[0] ?? {};
  const { labels = {} } = found.metadata;
  return {
    replicas: found.spec.replicas ?? 1,
    readyReplicas: found.status?.readyReplicas ?? 0,
    args,
    image,
    labels,
  };
}

/** The words of a list among arguments. */
export const valuesOf = (args: readonly string[], flag: string): string[] =>
  args
    .flatMap((arg) => (arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1).split(',') : []))
    .filter(Boolean);

/** What the operator was told to do stands in its arguments. */
export async function operatorFacts(client: Client, namespace: string): Promise<OperatorFacts | undefined> {
  const found = await deploymentFacts(client, { namespace, name: OPERATOR_NAME });
  if (!found) return undefined;
  const isRoad = (word: string): word is OperatorRoad => OPERATOR_ROADS.includes(word as OperatorRoad);
  return {
    roads: valuesOf(found.args, '--roads').filter(isRoad),
    watchNamespaces: valuesOf(found.args, '--watch-namespaces'),
    replicas: found.replicas,
    readyReplicas: found.readyReplicas,
    image: found.image,
    labels: found.labels,
  };
}

interface Lease extends AnyObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
}

/** Clocks of different machines differ: a Lease that looks too old is watched for as long as it lasts, for a renewal. */
async function leaseFacts(
  client: Client,
  namespace: string,
): Promise<{ holder: string; isRenewed: boolean } | undefined> {
  const read = async () =>
    (await client.get<Lease>(LEASE, { namespace, name: OPERATOR_NAME }, { timeoutMs: TIMEOUT_MS }))?.spec;
  const first = await read();
  if (!first) return undefined;
  const { holderIdentity: holder = '', leaseDurationSeconds = 15, renewTime = '' } = first;
  const durationMs = Math.min(leaseDurationSeconds, 60) * 1000;
  const isFresh = Math.abs(Date.now() - Date.parse(renewTime)) <= durationMs;
  if (isFresh || holder === '') return { holder, isRenewed: isFresh && holder !== '' };
  for (const end = Date.now() + durationMs; Date.now() < end;) {
    await delay(1000);
    const spec = await read();
    if (spec?.renewTime !== renewTime) return { holder: spec?.holderIdentity ?? '', isRenewed: true };
  }
  return { holder, isRenewed: false };
}

async function boundPolicies(client: Client): Promise<string[]> {
  const bindings = await listOf(client, POLICY_BINDING);
  return bindings.flatMap(({ spec }) => (spec as { policyName?: string } | undefined)?.policyName ?? []);
}

async function gatewayControllers(client: Client): Promise<string[]> {
  const classes = await listOf(client, GATEWAY_CLASS);
  const names = classes.flatMap(({ spec }) => (spec as { controllerName?: string }).controllerName ?? []);
  return [...new Set(names)];
}

interface ConfigMap extends AnyObject {
  data?: Record<string, string>;
}

async function delegation(client: Client, namespace: string) {
  const name = { namespace, name: STATUS_NAME };
  const found = await client.get<ConfigMap>(CONFIG_MAP, name);
  return found?.data && statusOf(found.data);
}

/** Namespaces that have names by the DNS server. */
async function grantees(client: Client, namespace: string): Promise<string[]> {
  const { items } = await client.list<ConfigMap>(CONFIG_MAP, {
    namespace,
    labelSelector: GRANTS_LABEL,
    timeoutMs: TIMEOUT_MS,
  });
  const grants = items.flatMap(({ data }) => Object.values(data ?? {}).flatMap(readGrants));
  return [...new Set(grants.flatMap(({ group }) => namespaceOfGroup(group) ?? []))];
}
