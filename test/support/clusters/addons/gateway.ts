/** The Gateway API, and Envoy Gateway to serve it. */
import { readFile } from 'node:fs/promises';
import { IMAGES } from '../../images/images.ts';
import { ensureEnvoyGateway, ensureGatewayApiCrds } from '../../install/envoy-gateway.ts';
import type { Cluster } from '../cluster.ts';

const NAMESPACE = 'envoy-gateway-system';
const NAME = 'envoy-gateway';
const metadata = { name: NAME, namespace: NAMESPACE };

/** The class that Gateways name. */
export const GATEWAY_CLASS = 'envoy';

const config = `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyGateway
gateway: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
logging: {level: {default: info}}
provider:
  type: Kubernetes
  kubernetes:
    shutdownManager: {image: "${IMAGES['envoy-gateway']}"}
    proxyTopologyInjector: {disabled: true}
`;

/** It may do anything: what it may do is not what is tested. */
const account = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: NAME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  },
];

function container(args: readonly string[]): Record<string, unknown> {
  const env = { ENVOY_GATEWAY_NAMESPACE: NAMESPACE, KUBERNETES_CLUSTER_DOMAIN: 'cluster.local' };
  return {
    name: NAME,
    image: IMAGES['envoy-gateway'],
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  };
}

/** Makes the certificates that controller and proxies know one another by. */
const certificates = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'certificates', namespace: NAMESPACE },
  spec: {
    template: {
      spec: {
        serviceAccountName: NAME,
        restartPolicy: 'OnFailure',
        containers: [container(['certgen', '--disable-topology-injector'])],
      },
    },
  },
};

const labels = { app: NAME };
const controller = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: 'config' },
    data: { 'envoy-gateway.yaml': config },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      selector: labels,
      ports: [
        { name: 'grpc', port: 18000 },
        { name: 'ratelimit', port: 18001 },
        { name: 'wasm', port: 18002 },
        { name: 'metrics', port: 19001 },
      ],
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          containers: [
            {
              ...container(['server', '--config-path=/config/envoy-gateway.yaml']),
              readinessProbe: {
                httpGet: { path: '/readyz', port: 8081 },
                periodSeconds: 1,
                timeoutSeconds: 5,
              },
              volumeMounts: [
                { name: 'config', mountPath: '/config' },
                { name: 'certificates', mountPath: '/certs' },
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name: 'config' } },
            { name: 'certificates', secret: { secretName: NAME } },
          ],
        },
      },
    },
  },
];

/** A class whose proxies run our image of Envoy, behind a load balancer or a node port. */
const gatewayClass = (service: 'LoadBalancer' | 'NodePort') => [
  {
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'EnvoyProxy',
    metadata: { name: 'proxy', namespace: NAMESPACE },
    spec: {
      provider: {
        type: 'Kubernetes',
        kubernetes: {
          envoyDeployment: {
            container: { image: IMAGES.envoy, resources: { requests: { cpu: '50m', memory: '128Mi' } } },
          },
          envoyService: { type: service, externalTrafficPolicy: 'Cluster' },
        },
      },
    },
  },
  {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: GATEWAY_CLASS },
    spec: {
      controllerName: 'gateway.envoyproxy.io/gatewayclass-controller',
      parametersRef: {
        group: 'gateway.envoyproxy.io',
        kind: 'EnvoyProxy',
        name: 'proxy',
        namespace: NAMESPACE,
      },
    },
  },
];

/** The CRDs alone, for a cluster in which nobody serves Gateways. */
export async function addGatewayApi(cluster: Cluster): Promise<void> {
  await cluster.apply(await readFile(await ensureGatewayApiCrds(), 'utf8'));
}

/** Gives the cluster a Gateway API that works, and waits until it does. With LoadBalancer, start those first. */
export async function addEnvoyGateway(
  cluster: Cluster,
  service: 'LoadBalancer' | 'NodePort' = 'LoadBalancer',
): Promise<void> {
  const { crds } = await ensureEnvoyGateway();
  await cluster.load('envoy-gateway', 'envoy');
  await addGatewayApi(cluster);
  await cluster.apply(await readFile(crds, 'utf8'));
  await cluster.apply([...account, certificates]);
  const where = { namespace: NAMESPACE };
  await cluster.waitFor('job/certificates', (job) => job.status?.['succeeded'] === 1, where);
  await cluster.apply([...controller, ...gatewayClass(service)]);
  await cluster.rolledOut(`deployment/${NAME}`, where);
}
