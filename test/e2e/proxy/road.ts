/** The proxy road in a whole cluster: the operator as people install it, real Kafka, and the resources of its users. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { IMAGES } from '../../support/images/images.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { run } from '../../../src/store/embedded/process.ts';
import { BROKERS, KAFKA_BOOTSTRAP, addKafka, kafkaIsReady } from './kafka-pods.ts';

export const NAMESPACE = 'shop';
export const PROXY = 'myproxy';
const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

export const where = { namespace: NAMESPACE };

/** A resource of the people who use the road. */
export function resource(kind: string, name: string, spec: object, group = 'kroxylicious.io'): object {
  return { apiVersion: `${group}/v1alpha1`, kind, metadata: { name, ...where }, spec };
}

/** How a virtual cluster uses an ingress: with the certificate of a Secret, unless in the clear. */
export function by(ingress: string, certificate?: string): object {
  return { name: ingress, ...(certificate && { tls: { certificateRefs: [{ name: certificate }] } }) };
}

export function virtualCluster(name: string, ingresses: readonly object[], more: object = {}): object {
  return resource('VirtualKafkaCluster', name, {
    proxyRef: { name: PROXY },
    ingresses,
    targetCluster: { clusterRef: { name: 'kafka' } },
    ...more,
  });
}

export function ingress(name: string, way: object): object {
  return resource('KafkaProxyIngress', name, { proxyRef: { name: PROXY }, ...way });
}

/** A way in, and a virtual cluster that uses it and has its name. */
export function entrance(name: string, way: object, certificate?: string): object[] {
  return [ingress(name, way), virtualCluster(name, [by(name, certificate)])];
}

type WithBootstrap = KubeObject & { status?: { ingresses?: { name: string; bootstrap?: string }[] } };

/** Whether it is ready as it is now, not as it was before it was changed. */
const isReady = ({ metadata, status }: KubeObject) =>
  status?.conditions?.some(
    (each) =>
      each.type === 'Ready' && each.status === 'True' && each.observedGeneration === metadata.generation,
  ) ?? false;

export interface Road {
  readonly cluster: Cluster;
  readonly authority: Authority;
  /** Makes or replaces the Secret of a certificate for these host names, and returns the certificate. */
  certify(secret: string, ...hosts: string[]): Promise<X509Certificate>;
  /** Waits until a virtual cluster is served, and returns where by one of its ingresses: by the only one. */
  served(virtualCluster: string, ingress?: string): Promise<string>;
}

/** What `isthmus install … | kubectl apply -f -` does. */
async function installOperator(cluster: Cluster): Promise<void> {
  const printed = await run(process.execPath, [
    MAIN,
    'install',
    '--roads=proxy,kafka,pod-sets',
    '--crds=strimzi',
    `--image=${IMAGES.isthmus}`,
  ]);
  assert.equal(printed.code, 0, printed.stderr);
  await cluster.apply(printed.stdout, { clientSide: true });
  await cluster.rolledOut('deployment/isthmus-operator', { namespace: 'isthmus-system' });
}

const proxy = (replicas: number) =>
  resource('KafkaProxy', PROXY, { infrastructure: { proxy: { replicas } } });
const clusterRef = resource('KafkaClusterRef', 'kafka', {
  bootstrap: KAFKA_BOOTSTRAP,
  nodeIdRanges: [{ name: 'brokers', start: BROKERS[0], end: BROKERS.at(-1) }],
});

/** Puts operator, Kafka and a proxy without virtual clusters into the cluster. */
export async function buildRoad(cluster: Cluster, replicas: number): Promise<Road> {
  const authority = await createAuthority('proxy road');
  await installOperator(cluster);
  await addKafka(cluster);
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    proxy(replicas),
    clusterRef,
  ]);
  await kafkaIsReady(cluster);
  return {
    cluster,
    authority,
    async certify(secret, ...hosts) {
      const { certPem, keyPem } = await authority.issue({ commonName: secret, dns: hosts });
      const data = { 'tls.crt': certPem, 'tls.key': keyPem };
      await cluster.apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: secret, ...where },
        type: 'kubernetes.io/tls',
        stringData: data,
      });
      return new X509Certificate(certPem);
    },
    async served(name, ingress) {
      const bootstrapOf = ({ status }: WithBootstrap) =>
        status?.ingresses?.find((each) => ingress === undefined || each.name === ingress)?.bootstrap;
      const isServed = (found: WithBootstrap) => isReady(found) && bootstrapOf(found) !== undefined;
      const found = await cluster.waitFor<WithBootstrap>(`virtualkafkacluster/${name}`, isServed, where);
      return bootstrapOf(found) ?? '';
    },
  };
}
