/** The anchor of a Redpanda cluster: what is written down of it, and stays when it is deleted. Pure. */
import { canonicalJson } from '../../kube/json.ts';
import type { AnyObject, OwnerReference } from '../../kube/object.ts';
import { redpandaAnchor } from '../../resources/isthmus/redpanda-anchor.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Document } from '../kernel/plan.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import type { RedpandaModel } from './model.ts';
import { anchorName, objectLabels } from './names.ts';
import { namesInAnchor } from './recorded-names.ts';

const API_VERSION = `${redpandaAnchor.group}/${redpandaAnchor.versions[0]}`;

/** By what they are for. Not read as a whole: all anchors are looked at for each cluster. */
export function portsIn(anchor: AnyObject | undefined): Record<string, number> {
  const { ports } = (anchor?.['spec'] ?? {}) as { ports?: { name?: string; port?: number }[] };
  const known = Array.isArray(ports) ? ports : [];
  return Object.fromEntries(
    known.flatMap(({ name, port }) => (name !== undefined && port !== undefined ? [[name, port]] : [])),
  );
}

export interface Kept {
  ports: Readonly<Record<string, number>>;
  grant: NameGrant | undefined;
}

/** What has to be written so that these ports and names are the cluster's; nothing where that is so, or there never was one. */
export function anchorDocuments(
  { namespace, name, uid }: RedpandaModel,
  { ports, grant }: Kept,
  live: AnyObject | undefined,
): Document[] {
  const spec = {
    cluster: { name, uid },
    ports: Object.entries(ports)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, port]) => ({ name: key, port })),
    names: namesInAnchor(grant),
  };
  const isNothing = !live && spec.ports.length + spec.names.length === 0;
  if (isNothing || canonicalJson(live?.['spec']) === canonicalJson(spec)) return [];
  const { resourceVersion, labels, annotations } = live?.metadata ?? {};
  const object: AnyObject = {
    apiVersion: API_VERSION,
    kind: redpandaAnchor.kind,
    metadata: {
      name: anchorName(name),
      namespace,
      labels: { ...labels, ...objectLabels(name) },
      ...(annotations && { annotations }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    spec,
  };
  return [{ cluster: LOCAL, object }];
}

/** Keeps what it owns beside the Cluster: the number is the cluster's as long as either is there. */
export const ownedByAnchor = (anchor: AnyObject | undefined): OwnerReference[] =>
  anchor?.metadata.uid === undefined
    ? []
    : [
        {
          apiVersion: API_VERSION,
          kind: redpandaAnchor.kind,
          name: anchor.metadata.name,
          uid: anchor.metadata.uid,
          controller: false,
          blockOwnerDeletion: false,
        },
      ];
