/** CoreDNS as the cluster's DNS, with the Corefile, Service and rights that kubeadm gives it. */
import { IMAGES } from '../../images/images.ts';
import { DNS_SERVICE } from '../addresses.ts';
import type { Cluster } from '../cluster.ts';

const NAME = 'coredns';
const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': 'kube-dns' };

/** As kubeadm writes it, but for shorter caching, so that tests need not outwait it. */
export const COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 5
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 5
    loop
    reload 2s 1s
    loadbalance
}
`;

const metadata = (name = NAME) => ({ name, namespace: NAMESPACE, labels: LABELS });

const rights = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata() },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `system:${NAME}` },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `system:${NAME}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `system:${NAME}` },
    subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: NAMESPACE }],
  },
];

const container = {
  name: NAME,
  image: IMAGES.coredns,
  args: ['-conf', '/etc/coredns/Corefile'],
  ports: [
    { name: 'dns', containerPort: 53, protocol: 'UDP' },
    { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
  ],
  // It is alone: to be slow for a while is better than to be taken out, and it answers no less for that.
  readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1, timeoutSeconds: 5 },
  livenessProbe: { httpGet: { path: '/health', port: 8080 }, failureThreshold: 5, timeoutSeconds: 5 },
  resources: { requests: { cpu: '50m', memory: '70Mi' }, limits: { memory: '170Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
};

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata(),
  spec: {
    replicas: 1,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        serviceAccountName: NAME,
        dnsPolicy: 'Default',
        priorityClassName: 'system-cluster-critical',
        // Should its node die, names are back on another one in seconds.
        tolerations: ['not-ready', 'unreachable'].map((state) => ({
          key: `node.kubernetes.io/${state}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 5,
        })),
        containers: [container],
        volumes: [
          { name: 'config', configMap: { name: NAME, items: [{ key: 'Corefile', path: 'Corefile' }] } },
        ],
      },
    },
  },
};

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('kube-dns'),
  spec: {
    clusterIP: DNS_SERVICE,
    selector: LABELS,
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    ],
  },
};

/** Gives the cluster its DNS and waits until it answers. */
export async function addCoreDns(cluster: Cluster): Promise<void> {
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(), data: { Corefile: COREFILE } };
  await cluster.apply([...rights, config, service, deployment]);
  await cluster.rolledOut(`deployment/${NAME}`, { namespace: NAMESPACE });
}
