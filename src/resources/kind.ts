/** What this program knows about one kind of resource, in one value: everything else is derived from it. */
import { z } from 'zod';
import { metadata } from './common/metadata.ts';
import type { Metadata } from './common/metadata.ts';
import { withRules } from './schema.ts';
import type { Rule } from './schema.ts';
import { structuralOf } from './structural.ts';
import type { Structural } from './structural.ts';

/** The parts of the program that kinds belong to. */
export const ROADS = ['proxy', 'expose', 'stretch', 'discover'] as const;
export type Road = (typeof ROADS)[number];

/**
 * Who brings the CRD. `default`: it is ours, and `isthmus install` applies it. `choice`: it belongs to another
 * project, so ours is applied only where asked for, to run without that project. `never`: only read.
 */
export type Install = 'default' | 'choice' | 'never';

/** Projects that kinds to be installed by `choice` belong to. */
export type ForeignProject = 'strimzi' | 'redpanda' | 'external-dns' | 'mcs';

/** A column of `kubectl get`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date';
  jsonPath: string;
  description: string;
  /** Shown with `-o wide` only. */
  wide?: true;
}

/** Where `kubectl scale` and a HorizontalPodAutoscaler find what they need. */
export interface Scale {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath: string;
}

/** The least that every resource has. */
export interface Resource {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: unknown;
  status?: unknown;
}

/** A resource as someone wrote it: valid, defaults filled in, not normalised yet. */
export interface Written<Name extends string, Spec, Status> extends Resource {
  kind: Name;
  spec: Spec;
  status?: Status;
}

interface Identity<Name extends string> {
  group: string;
  /** Oldest first; the last one is stored. */
  versions: readonly [string, ...string[]];
  kind: Name;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  roads: readonly Road[];
  install: Install;
  /** Where the group is one of Kubernetes' own: the review that allowed it. */
  approval?: string;
  description: string;
  columns: readonly Column[];
  scale?: Scale;
}

/** A kind; `R` is what the rest of the program sees, `W` what a user may write. */
export interface Kind<
  R extends Resource = Resource,
  W = never,
  Name extends string = string,
> extends Identity<Name> {
  scope: 'Namespaced' | 'Cluster';
  /** Whether anything is said about its resources in a status of theirs. */
  hasStatus: boolean;
  /** Validates, and fills in defaults: what it yields is a `W`, which a list of different kinds cannot express. */
  schema: z.ZodType;
  /** The schema as OpenAPI; made on first use, since few commands need all of them. */
  structural: () => Structural;
  /** Folds the spellings of one thing into one. Pure, and doing it again changes nothing. */
  normalise: (written: W) => R;
}

/** What the rest of the program sees of a kind. */
export type ResourceOf<K> = K extends Kind<infer R> ? R : never;

interface Definition<
  Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
  R extends Resource,
> extends Identity<Name> {
  /** `Namespaced` if left out. */
  scope?: 'Cluster';
  spec: Spec;
  /** Left out where nothing writes one. */
  status?: Status;
  /** Rules about the whole resource, such as its name. */
  rules?: readonly Rule<Written<Name, z.output<Spec>, z.output<Status>>>[];
  normalise: (written: Written<Name, z.output<Spec>, z.output<Status>>) => R;
}

/** Completes a definition. */
export function defineKind<
  Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
  R extends Resource,
>(
  definition: Definition<Name, Spec, Status, R>,
): Kind<R, Written<Name, z.output<Spec>, z.output<Status>>, Name> {
  const { spec, status, rules = [], normalise, scope = 'Namespaced', ...identity } = definition;
  const { group, versions, kind, description } = identity;
  const whole = z
    .object({
      apiVersion: z.enum(versions.map((version) => `${group}/${version}`)),
      kind: z.literal(kind),
      metadata,
      spec,
      ...(status && { status: status.exactOptional() }),
    })
    .meta({ description });
  type W = Written<Name, z.output<Spec>, z.output<Status>>;
  // zod cannot show that an object of generic parts has the type of its parts.
  const schema = withRules(whole as unknown as z.ZodType<W>, ...rules);
  let structural: Structural | undefined;
  return {
    ...identity,
    scope,
    hasStatus: status !== undefined,
    schema,
    structural: () => (structural ??= structuralOf(schema)),
    normalise,
  };
}

/** A rule for the length of a resource's name, with the reason for it. */
export function nameAtMost<W extends Resource>(max: number, because: string): Rule<W> {
  return {
    cel: `self.metadata.name.size() <= ${max}`,
    holds: ({ metadata }) => metadata.name.length <= max,
    message: `choose a name of at most ${max} characters, because ${because}`,
  };
}

/** A rule for names that become part of a host name, where a dot would begin a new label. */
export function nameIsLabel<W extends Resource>(): Rule<W> {
  return {
    cel: "!self.metadata.name.contains('.')",
    holds: ({ metadata }) => !metadata.name.includes('.'),
    message: 'choose a name without dots, because it becomes a label of a host name',
  };
}
