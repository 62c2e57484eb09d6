/** Pods that the tests of the testbed run. */
import { IMAGES } from '../../support/images/images.ts';

export const NODE_PORT = 30080;
export const HOST_PORT = 18080;

const busybox = (script: string) => ({ name: 'main', image: IMAGES.busybox, command: ['sh', '-c', script] });

/** Serves its own name, and logs who asked. */
const server = {
  ...busybox('mkdir /www; hostname > /www/index.html; exec httpd -f -v -p 8080 -h /www'),
  ports: [{ containerPort: 8080 }],
  readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, timeoutSeconds: 5 },
};

/** A Deployment `web` behind a Service with a node port. */
export function web(replicas = 1): object[] {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [server], terminationGracePeriodSeconds: 0 } };
  const spread = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' };
  Object.assign(template.spec, {
    topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: labels } }],
  });
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas, selector: { matchLabels: labels }, template },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        type: 'NodePort',
        selector: labels,
        ports: [{ port: 80, targetPort: 8080, nodePort: NODE_PORT }],
      },
    },
  ];
}

/** A pod `door` that is reached by a port of its node. */
export const door = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'door', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ ...server, ports: [{ containerPort: 8080, hostPort: HOST_PORT }] }],
  },
};

/** A pod `client` to run commands in. */
export const client = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'client', namespace: 'default' },
  spec: { terminationGracePeriodSeconds: 0, containers: [busybox('exec sleep 1000000')] },
};

/** A StatefulSet `notes` that adds a line to its volume each time it starts. */
export const notes = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'notes', namespace: 'default' },
  spec: {
    serviceName: 'notes',
    selector: { matchLabels: { app: 'notes' } },
    template: {
      metadata: { labels: { app: 'notes' } },
      spec: {
        // Not root: the volume must be made writable for the pod's group, as the platform's own are.
        securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            ...busybox('echo started >> /data/notes; exec sleep 1000000'),
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
};
