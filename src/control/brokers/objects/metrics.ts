/**
 * How a node tells Prometheus of itself: by Strimzi's metrics reporter, which the operator's own image brings and a container copies
 * before Kafka starts. Kafka's image is left as it is; all it gets is one more folder on the class path.
 */
import { CONFINED } from '../../shared/pod-template.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { METRICS_DIRECTORY, METRICS_PORT, METRICS_PORT_NAME } from '../model/names.ts';

const VOLUME = 'metrics';
/** Where the image has the jars; see deploy/image/contents.ts. */
const JARS = '/app/metrics-reporter';
/** The image has no shell. */
const COPY = `require('node:fs').cpSync('${JARS}', '${METRICS_DIRECTORY}', { recursive: true })`;

/** What a pod has for it. */
export interface MetricsParts {
  initContainers: object[];
  volumes: object[];
  mounts: object[];
  env: object[];
  ports: object[];
}

const NONE: MetricsParts = { initContainers: [], volumes: [], mounts: [], env: [], ports: [] };

export function metricsParts({ metrics }: Pick<BrokerCluster, 'metrics'>): MetricsParts {
  if (!metrics) return NONE;
  const mount = { name: VOLUME, mountPath: METRICS_DIRECTORY };
  return {
    initContainers: [
      {
        name: 'metrics-reporter',
        image: metrics.image,
        command: ['/usr/local/bin/node', '-e', COPY],
        resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
        ...CONFINED,
        volumeMounts: [mount],
      },
    ],
    volumes: [{ name: VOLUME, emptyDir: { sizeLimit: '20Mi' } }],
    mounts: [{ ...mount, readOnly: true }],
    env: [{ name: 'ISTHMUS_CLASS_PATH', value: `${METRICS_DIRECTORY}/*` }],
    ports: [{ name: METRICS_PORT_NAME, containerPort: METRICS_PORT, protocol: 'TCP' }],
  };
}
