/** All of an installation: what `isthmus install` prints, and what the chart and the base for kustomize are made from. */
import { crdOf } from '../../resources/crd.ts';
import { ROADS } from '../../resources/kind.ts';
import type { ForeignProject } from '../../resources/kind.ts';
import { kindsToInstall } from '../../resources/registry.ts';
import { consoleManifests } from './console.ts';
import { infrastructurePolicy } from './infrastructure-policy.ts';
import { operatorManifests } from './manifests.ts';
import type { InstallOptions } from './manifests.ts';
import type { Manifest } from './objects.ts';
import { personaManifests } from './personas.ts';
import { podMonitors } from './pod-monitor.ts';
import { filterProtection } from './protected-filters.ts';

/** The projects whose CRDs are installed beside ours; or none at all. */
export type Crds = readonly ForeignProject[] | 'none';

/** Of the whole cluster, and about the kinds: whoever brings the CRDs brings these. */
export const aboutKinds = (): Manifest[] => [
  ...infrastructurePolicy(),
  ...personaManifests(),
  ...filterProtection(),
];

/** The CRDs of our own kinds, and those of these projects. */
export const crdsOf = (projects: readonly ForeignProject[]): object[] =>
  kindsToInstall(ROADS, projects).map(crdOf);

/** In the order in which it must be applied. */
export function installation(
  options: InstallOptions,
  choice: { crds: Crds; podMonitor: boolean; console?: boolean },
): Manifest[] {
  const { crds } = choice;
  const { namespace, watchNamespaces = [] } = options;
  return [
    ...(crds === 'none' ? [] : [...(crdsOf(crds) as Manifest[]), ...aboutKinds()]),
    ...operatorManifests(options),
    ...(choice.console ? consoleManifests(options) : []),
    ...(choice.podMonitor ? podMonitors(namespace, watchNamespaces) : []),
  ];
}
