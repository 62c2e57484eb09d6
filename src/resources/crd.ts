/** Kinds as CustomResourceDefinitions. `isthmus install` prints them; deploy/crds holds the same, generated. */
import { stringify } from 'yaml';
import type { Column, Kind } from './kind.ts';
import type { Structural } from './structural.ts';

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; annotations?: Record<string, string>; labels: Record<string, string> };
  spec: {
    group: string;
    names: Record<string, unknown>;
    scope: string;
    versions: unknown[];
  };
}

/** The name of the CRD of a kind. */
export function crdName({ plural, group }: Pick<Kind, 'plural' | 'group'>): string {
  return `${plural}.${group}`;
}

/** The CRD of a kind. All versions have one schema, so an API server converts by changing the version only. */
export function crdOf(kind: Kind): CustomResourceDefinition {
  const { group, versions, plural, singular, shortNames, categories, scope, approval } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: crdName(kind),
      ...(approval !== undefined && { annotations: { 'api-approved.kubernetes.io': approval } }),
      labels: { 'app.kubernetes.io/part-of': 'isthmus' },
    },
    spec: {
      group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 && { shortNames: [...shortNames] }),
        ...(categories.length > 0 && { categories: [...categories] }),
      },
      scope,
      versions: versions.map((version) => versionOf(kind, version, version === versions.at(-1))),
    },
  };
}

function versionOf(kind: Kind, name: string, storage: boolean) {
  return {
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: rootSchema(kind.structural()) },
    ...(kind.hasStatus && { subresources: { status: {}, ...(kind.scale && { scale: { ...kind.scale } }) } }),
    ...(kind.columns.length > 0 && { additionalPrinterColumns: kind.columns.map(printerColumn) }),
  };
}

/** An API server checks these members itself, and allows a CRD to say nothing about them. */
function rootSchema({ properties = {}, required = [], ...root }: Structural): Structural {
  const own = required.filter((name) => name === 'spec' || name === 'status');
  return {
    ...root,
    ...(own.length > 0 && { required: own }),
    properties: {
      ...properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
    },
  };
}

function printerColumn({ wide, ...column }: Column) {
  return { ...column, ...(wide && { priority: 1 }) };
}

const HEADER = '# Generated from src/resources by `npm run generate`; edit there.\n';

/** The CRD of a kind as a YAML file. */
export function crdYaml(kind: Kind): string {
  return HEADER + stringify(crdOf(kind), { aliasDuplicateObjects: false, lineWidth: 0 });
}
