/** A thousand virtual clusters, as many teams would have them: most in the clear, some with TLS. */
import type { AnyObject } from '../../src/kube/object.ts';
import type { Authority } from '../../test/support/pki.ts';

export interface Size {
  proxies: number;
  clustersEach: number;
}

export const TARGETS = ['kafka-a', 'kafka-b'];
const NAMESPACES = 4;
const TLS_EVERY = 5;

export const namespaceOf = (proxy: number) => `team-${proxy % NAMESPACES}`;
export const proxyName = (proxy: number) => `proxy-${proxy}`;
export const clusterName = (proxy: number, cluster: number) => `vc-${proxy}-${cluster}`;

const resource = (kind: string, namespace: string, name: string, spec: object): AnyObject => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind,
  metadata: { name, namespace },
  spec,
});

/** Everything there has to be, in an order in which it can be made. */
export async function makeWorld({ proxies, clustersEach }: Size, authority: Authority): Promise<AnyObject[]> {
  const objects: AnyObject[] = [];
  for (let n = 0; n < NAMESPACES; n++) {
    const namespace = `team-${n}`;
    objects.push({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (const target of TARGETS)
      objects.push(resource('KafkaClusterRef', namespace, target, { bootstrap: `${target}:9092` }));
  }
  for (let proxy = 0; proxy < proxies; proxy++) {
    const namespace = namespaceOf(proxy);
    const proxyRef = { name: proxyName(proxy) };
    const ingress = (name: string, protocol: string) =>
      resource('KafkaProxyIngress', namespace, `${name}-${proxy}`, { proxyRef, clusterIP: { protocol } });
    objects.push(
      resource('KafkaProxy', namespace, proxyRef.name, {}),
      ingress('tcp', 'TCP'),
      ingress('tls', 'TLS'),
    );
    for (let cluster = 0; cluster < clustersEach; cluster++)
      objects.push(...(await virtualCluster(namespace, proxy, cluster, authority)));
  }
  return objects;
}

async function virtualCluster(
  namespace: string,
  proxy: number,
  cluster: number,
  authority: Authority,
): Promise<AnyObject[]> {
  const name = clusterName(proxy, cluster);
  const isTls = cluster % TLS_EVERY === 0;
  const ingress = isTls
    ? { name: `tls-${proxy}`, tls: { certificateRefs: [{ name }] } }
    : { name: `tcp-${proxy}` };
  const spec = {
    proxyRef: { name: proxyName(proxy) },
    ingresses: [ingress],
    targetCluster: { clusterRef: { name: TARGETS[0] } },
  };
  const resources = [resource('VirtualKafkaCluster', namespace, name, spec)];
  if (!isTls) return resources;
  const host = `${name}-tls-${proxy}.${namespace}.svc.cluster.local`;
  const { certPem, keyPem } = await authority.issue({ commonName: name, dns: [host] });
  const stringData = { 'tls.crt': certPem, 'tls.key': keyPem };
  const metadata = { name, namespace };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', stringData },
    ...resources,
  ];
}
