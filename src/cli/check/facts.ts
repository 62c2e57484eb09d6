/** What the checks decide by: gathered at once, by `gather`, and no more than data. */
import type { DelegationStatus } from '../../control/discover/delegation/status.ts';
import type { OperatorRoad } from '../../control/roads.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { CheckCode } from '../../ops/codes/checks.ts';
import type { ReasonCode } from '../../ops/codes/reasons.ts';
import type { Structural } from '../../resources/structural.ts';
import type { Read } from '../kube/read.ts';
import type { ExposeFacts } from './expose-facts.ts';
import type { GatheredKind } from './kinds.ts';

/** What can be checked by itself. */
export const CHECKED_ROADS = ['proxy', 'kafka', 'expose', 'redpanda', 'pod-sets', 'dns'] as const;
export type CheckedRoad = (typeof CHECKED_ROADS)[number];

/** As much of a CRD as matters here. */
export interface Crd extends AnyObject {
  spec: { versions: { name: string; served: boolean; schema?: { openAPIV3Schema?: Structural } }[] };
}

/** Something that somebody may or may not do. */
export interface Access {
  verb: string;
  group: string;
  resource: string;
  /** Undefined for the whole cluster. */
  namespace?: string | undefined;
  allowed: boolean;
}

export interface OperatorFacts {
  roads: readonly OperatorRoad[];
  watchNamespaces: readonly string[];
  replicas: number;
  readyReplicas: number;
  image?: string | undefined;
  labels?: Readonly<Record<string, string>>;
}

export interface Facts {
  /** The road asked for; all if undefined. */
  road: CheckedRoad | undefined;
  /** The operator's namespace. */
  namespace: string;
  server: Read<{ gitVersion: string; major: string; minor: string }>;
  crds: Read<readonly Crd[]>;
  /** What an installation takes, as the user of this kubeconfig. */
  installRights: Read<readonly Access[]>;
  operator: Read<OperatorFacts | undefined>;
  operatorRights: Read<readonly Access[]>;
  /** Whether the Lease of the leader is being renewed; undefined if there is none. */
  lease: Read<{ holder: string; isRenewed: boolean } | undefined>;
  /** Names of ValidatingAdmissionPolicies that are bound. */
  policies: Read<readonly string[]>;
  /** Resources by kind; none of kinds that the server does not have. */
  resources: ReadonlyMap<GatheredKind, Read<readonly AnyObject[]>>;
  /** Whether optional kinds are served, CRD or not. */
  served: ReadonlyMap<string, Read<boolean>>;
  /** Names of the controllers that serve Gateways. */
  gatewayControllers: Read<readonly string[]>;
  /** Undefined where no DNS server of ours runs in the namespace. */
  dns: Read<{ replicas: number; readyReplicas: number } | undefined>;
  delegation: Read<DelegationStatus | undefined>;
  /** Namespaces to which the DNS server has granted names. */
  grantees: Read<readonly string[]>;
  /** What decides whether brokers are reached from outside; undefined where nobody asked. */
  expose?: ExposeFacts | undefined;
}

/** Of a check itself, or the reason of a condition that says it already. */
export type FoundCode = CheckCode | ReasonCode;

/** What a check says. What is wrong has a code, by which the table knows what to do. */
export interface CheckResult {
  description: string;
  result: 'success' | 'warning' | 'error';
  code?: FoundCode;
  error?: string;
}
