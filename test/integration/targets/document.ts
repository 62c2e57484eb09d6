/** What the stretch proposal has people apply in a remote cluster and put into a Secret of the central one, as it is printed there. */
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { ControlPlane } from '../../support/control-plane.ts';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

const LONG_LIVED = 'my-long-lived-secret';

/** Namespace, ServiceAccount, Role, RoleBinding, and the Secret that holds a token for ever. */
export function documentObjects(namespace: string): object[] {
  const rbac = 'rbac.authorization.k8s.io';
  const account = { name: 'stretch-operator', namespace };
  const rule = (apiGroup: string, ...resources: string[]) => ({
    apiGroups: [apiGroup],
    resources,
    verbs: VERBS,
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: 'stretch-operator-role', namespace },
      rules: [
        rule('core.strimzi.io', 'strimzipodsets'),
        rule('', 'services', 'configmaps', 'secrets', 'serviceaccounts'),
        rule('multicluster.x-k8s.io', 'serviceexports'),
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'stretch-operator-rolebinding', namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'stretch-operator-role' },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: LONG_LIVED,
        namespace,
        annotations: { 'kubernetes.io/service-account.name': account.name },
      },
      type: 'kubernetes.io/service-account-token',
    },
  ];
}

/** The minimal kubeconfig of the document, with the token that Kubernetes has put into the Secret. */
export async function documentKubeconfig(plane: ControlPlane, namespace: string): Promise<string> {
  const token = await waitFor('a token', async () => {
    const path = 'jsonpath={.data.token}';
    const { stdout } = await plane.kubectl(['get', 'secret', LONG_LIVED, '-n', namespace, '-o', path]);
    return Buffer.from(stdout, 'base64').toString('utf8') || undefined;
  });
  // The API server learns of roles by a watch of its own.
  const account = `--as=system:serviceaccount:${namespace}:stretch-operator`;
  const mayCreate = async () =>
    (await plane.kubectl(['auth', 'can-i', 'create', 'services', '-n', namespace, account])).code === 0;
  await waitFor('its rights', mayCreate);
  return `apiVersion: v1
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: ${plane.url}
  name: example-cluster
contexts:
- context:
    cluster: example-cluster
    namespace: ${namespace}
    user: stretch-operator-user
  name: stretch-cluster-context
current-context: stretch-cluster-context
kind: Config
preferences: {}
users:
- name: stretch-operator-user
  user:
    token: ${token}
`;
}

/** A Secret with a kubeconfig, with the label of joined clusters where an id is given. */
export function joinSecret(
  name: string,
  kubeconfig: string,
  id?: string,
  annotations: Record<string, string> = {},
): object {
  const labels = id === undefined ? {} : { 'connectivity.tanzu.vmware.com/cluster-name': id };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', labels, annotations },
    data,
  };
}
