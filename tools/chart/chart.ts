/** The Helm chart, and the base for kustomize, made from what `isthmus install` prints. */
import { stringify } from 'yaml';
import { aboutKinds, crdsOf, installation } from '../../src/control/install/installation.ts';
import {
  consoleManifests,
  consoleNamespaceRole,
  consoleRole,
  consoleWorkload,
} from '../../src/control/install/console.ts';
import { deployment, operatorManifests } from '../../src/control/install/manifests.ts';
import type { InstallOptions } from '../../src/control/install/manifests.ts';
import { boundRole, yamlOf } from '../../src/control/install/objects.ts';
import type { Manifest } from '../../src/control/install/objects.ts';
import { podMonitors } from '../../src/control/install/pod-monitor.ts';
import {
  everywhereRules,
  homeRules,
  namespacedRules,
  operatorRules,
} from '../../src/control/install/rbac.ts';
import { secretPolicy } from '../../src/control/install/secret-policy.ts';
import type { PolicyRule } from '../../src/control/kernel/rights.ts';
import { DEFAULT_ROADS } from '../../src/control/roads.ts';
import type { OperatorRoad } from '../../src/control/roads.ts';
import { VERSION } from '../../src/ops/version.ts';
import { FOREIGN_PROJECTS } from '../../src/resources/registry.ts';
import { byRoads, forRoads, placeholder, roadsWith, rulesTemplate, templateOf } from './template.ts';
import { VALUES, valuesSchema } from './values.ts';

const CHART = 'deploy/chart';
const KUSTOMIZE = 'deploy/kustomize';
export const CHART_FOLDERS = [
  CHART,
  KUSTOMIZE,
  `${CHART}/templates`,
  ...['own', ...FOREIGN_PROJECTS].map((project) => `${CHART}/files/crds/${project}`),
];

const HEAD = '# Made by `npm run generate`; changes are overwritten.\n';

/** Path from the top of the repository → content. */
export function chartFiles(): Map<string, string> {
  return new Map([
    [`${CHART}/Chart.yaml`, HEAD + stringify(about())],
    [`${CHART}/values.yaml`, HEAD + valuesYaml()],
    [`${CHART}/values.schema.json`, `${JSON.stringify(valuesSchema(), null, 2)}\n`],
    [`${CHART}/templates/crds.yaml`, CRDS],
    [
      `${CHART}/templates/people.yaml`,
      `{{- if $.Values.crds.install }}\n${templateOf(aboutKinds())}{{- end }}\n`,
    ],
    [`${CHART}/templates/operator.yaml`, operatorTemplate()],
    [`${CHART}/templates/console.yaml`, consoleTemplate()],
    ...crdFiles(),
    [`${KUSTOMIZE}/kustomization.yaml`, HEAD + stringify(KUSTOMIZATION)],
    [`${KUSTOMIZE}/isthmus.yaml`, HEAD + yamlOf(byDefault())],
  ]);
}

const about = () => ({
  apiVersion: 'v2',
  name: 'isthmus',
  description:
    'The operator of Isthmus, which joins Kafka to everything on the far side of a Kubernetes boundary.',
  type: 'application',
  version: VERSION,
  appVersion: VERSION,
  kubeVersion: '>=1.30.0-0', // ValidatingAdmissionPolicies
});

const valuesYaml = () =>
  Object.entries(VALUES)
    .map(([name, { help, fallback }]) => `\n# ${help}\n${stringify({ [name]: fallback })}`)
    .join('');

const KUSTOMIZATION = {
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: ['isthmus.yaml'],
};

const byDefault = () =>
  installation(
    {
      namespace: 'isthmus-system',
      image: `isthmus:${VERSION}`,
      version: VERSION,
      replicas: 2,
      roads: DEFAULT_ROADS,
    },
    { crds: [], podMonitor: false },
  );

/** Not in the folder `crds`, which Helm installs once and never upgrades. */
const CRDS = `{{- if $.Values.crds.install }}
{{- range $project := prepend $.Values.crds.projects "own" }}
{{- range $path, $_ := $.Files.Glob (printf "files/crds/%s/*.yaml" $project) }}
---
{{ $.Files.Get $path }}
{{- end }}
{{- end }}
{{- end }}
`;

function crdFiles(): [string, string][] {
  const own = new Set(crdsOf([]).map((crd) => (crd as Manifest).metadata.name));
  return ['own' as const, ...FOREIGN_PROJECTS].flatMap((project) =>
    (crdsOf(project === 'own' ? [] : [project]) as Manifest[])
      .filter(({ metadata }) => project === 'own' || !own.has(metadata.name))
      .map((crd) => [
        `${CHART}/files/crds/${project}/${crd.metadata.name}.yaml`,
        stringify(kept(crd), { aliasDuplicateObjects: false }),
      ]),
  );
}

/** With a CRD Kubernetes deletes all resources of its kind: `helm uninstall` leaves it. */
const kept = (crd: Manifest): Manifest => ({
  ...crd,
  metadata: {
    ...crd.metadata,
    annotations: { ...crd.metadata.annotations, 'helm.sh/resource-policy': 'keep' },
  },
});

/** What is made with placeholders for all values but the roads. */
const OPTIONS = {
  ...Object.fromEntries(
    Object.entries(VALUES)
      .filter(([, { form }]) => form !== 'choice')
      .map(([name, { form }]) => [name, form === 'list' ? [placeholder(name)] : placeholder(name)]),
  ),
  namespace: placeholder('namespace'),
  version: VERSION,
  kafkaImages: { [placeholder('kafkaImages')]: '' },
} as unknown as InstallOptions;

/** All that is in the operator's namespace whatever the values, and the rights by where it looks. */
function operatorTemplate(): string {
  const roads = [...DEFAULT_ROADS];
  const always = operatorManifests({ ...OPTIONS, roads, watchNamespaces: [] });
  const one = (kind: string) => always.filter((object) => object.kind === kind);
  const [account] = one('ServiceAccount') as [Manifest & { metadata: { namespace: string } }];
  const { name, labels } = account.metadata;
  const watcher = `${name}.${account.metadata.namespace}`;
  const bound = (metadata: Manifest['metadata'], make: (roads: OperatorRoad[]) => PolicyRule[]) =>
    roleTemplate({ ...metadata, labels: labels! }, make, account.metadata);
  const policy = byRoads(['proxy', 'kafka'], (served) =>
    secretPolicy({ name: watcher, labels: labels! }, account.metadata, served),
  );
  return [
    templateOf([account]),
    '{{- if not $.Values.watchNamespaces }}\n',
    policy,
    bound({ name }, operatorRules),
    '{{- else }}\n',
    bound({ name: watcher }, everywhereRules),
    '{{- range $watched := $.Values.watchNamespaces }}\n',
    bound({ name: watcher, namespace: placeholder('watched') }, namespacedRules),
    '{{- end }}\n{{- end }}\n',
    bound(account.metadata, homeRules),
    templateOf([deployment(OPTIONS), ...one('PodDisruptionBudget')]),
    '{{- if $.Values.podMonitor }}\n',
    podMonitorTemplate(account.metadata.namespace),
    '{{- end }}\n',
  ].join('');
}

/** It looks where the operator looks. */
function consoleTemplate(): string {
  const { namespace } = OPTIONS;
  const account = consoleManifests(OPTIONS).filter(({ kind }) => kind === 'ServiceAccount');
  return [
    '{{- if $.Values.console }}\n',
    templateOf(account),
    '{{- if not $.Values.watchNamespaces }}\n',
    templateOf(consoleRole(namespace, true)),
    '{{- else }}\n',
    templateOf(consoleRole(namespace, false)),
    '{{- range $watched := $.Values.watchNamespaces }}\n',
    templateOf(consoleNamespaceRole(namespace, placeholder('watched'))),
    '{{- end }}\n{{- end }}\n',
    templateOf(consoleWorkload(OPTIONS)),
    '{{- end }}\n',
  ].join('');
}

/** A role whose rules are for the roads that need them, and its binding; for roads that need any. */
function roleTemplate(
  metadata: Manifest['metadata'],
  make: (roads: OperatorRoad[]) => PolicyRule[],
  account: { name: string; namespace: string },
): string {
  const [role, binding] = boundRole(metadata, [], account) as [Manifest, Manifest];
  const head = templateOf([role]).replace('rules: []\n', 'rules:\n');
  const text = head + rulesTemplate(make) + templateOf([binding]);
  return forRoads(roadsWith(make), text);
}

/** It looks where the operator looks. */
function podMonitorTemplate(namespace: string): string {
  const text = templateOf(podMonitors(namespace, [placeholder('watched')]));
  const watched = '    matchNames:\n      - "{{ $watched }}"\n';
  if (!text.includes(watched)) throw new Error('the PodMonitor has no matchNames to make a template of');
  return text.replace(
    watched,
    '{{- if $.Values.watchNamespaces }}\n    matchNames:\n{{- toYaml $.Values.watchNamespaces | nindent 6 }}\n{{- else }}\n    any: true\n{{- end }}\n',
  );
}
