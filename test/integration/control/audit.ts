/** Which rights somebody has used, by the API server's own audit log. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyRule } from '../../../src/control/kernel/rights.ts';
import { workspace } from '../../support/workspace.ts';

export interface Audit {
  /** For kube-apiserver. */
  readonly args: string[];
  /** The rights that were used, each as `verb resource.group`. */
  used(): Set<string>;
  /** The objects that a verb was used on, and that were there, each as `resource namespace/name`. */
  objects(verb: string): string[];
  /** What was refused for want of rights. */
  refused(): string[];
}

interface AuditEvent {
  verb: string;
  objectRef?: {
    resource?: string;
    subresource?: string;
    apiGroup?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code?: number };
}

/** Keeps an audit log about one user. */
export function createAudit(user: string): Audit {
  const folder = workspace('audit');
  const log = join(folder, 'audit.log');
  const policy = join(folder, 'policy.json');
  const rules = [{ level: 'Metadata', users: [user], omitStages: ['RequestReceived'] }, { level: 'None' }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const events = () =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .slice(0, -1) // the last line may only be half written
      .map((line) => JSON.parse(line) as AuditEvent);
  const rightOf = (verb: string, { resource = '', subresource, apiGroup }: NonNullable<Named>) =>
    right(verb, subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup);
  return {
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    used: () =>
      new Set(
        events().flatMap(({ verb, objectRef, responseStatus }) => {
          if (!objectRef) return [];
          // An apply that makes something is a patch, for which the server wants the right to create, too.
          const created = verb === 'patch' && responseStatus?.code === 201;
          return [rightOf(verb, objectRef), ...(created ? [rightOf('create', objectRef)] : [])];
        }),
      ),
    objects: (wanted) =>
      events().flatMap(({ verb, objectRef, responseStatus }) =>
        verb === wanted && objectRef && responseStatus?.code !== 404
          ? [`${objectRef.resource} ${objectRef.namespace ?? ''}/${objectRef.name}`]
          : [],
      ),
    refused: () =>
      events().flatMap(({ verb, objectRef, responseStatus }) =>
        objectRef && responseStatus?.code === 403 ? [rightOf(verb, objectRef)] : [],
      ),
  };
}

type Named = AuditEvent['objectRef'];

const right = (verb: string, resource: string, group = '') =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** The rights that rules grant, spelled the same way. */
export function rightsOf(rules: readonly PolicyRule[]): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => right(verb, resource, group))),
      ),
    ),
  );
}
