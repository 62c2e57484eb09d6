/** A folder for `isthmus up` with what works, and with all that the console must show when it does not. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createAuthority } from '../../support/pki.ts';

/** In no page, and in no answer. */
export const SECRET = 'c2VjcmV0LW9mLXRoZS1jb25zb2xlLXRlc3QtISEhISE=';

const API = { apiVersion: 'kroxylicious.io/v1alpha1' };
const proxyRef = { name: 'edge' };

function cluster(
  name: string,
  more: { target?: string; ingress?: object; filters?: string[]; namespace?: string } = {},
) {
  const { target = 'kafka', ingress = { name: 'tcp' }, filters = [], namespace } = more;
  return {
    ...API,
    kind: 'VirtualKafkaCluster',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      proxyRef,
      ingresses: [ingress],
      targetCluster: { clusterRef: { name: target } },
      ...(filters.length > 0 && { filterRefs: filters.map((filter) => ({ name: filter })) }),
    },
  };
}

const kafkaRef = (name: string, bootstrap: string) => ({
  ...API,
  kind: 'KafkaClusterRef',
  metadata: { name },
  spec: { bootstrap, nodeIdRanges: [{ start: 0, end: 2 }] },
});

const encryption = {
  apiVersion: 'filter.kroxylicious.io/v1alpha1',
  kind: 'KafkaProtocolFilter',
  metadata: { name: 'encryption' },
  spec: {
    type: 'record-encryption',
    config: {
      kms: 'UnitTestingKmsService',
      kmsConfig: {
        // Written here and not in a Secret, as somebody does who tries it out.
        existingKeks: [
          {
            uuid: '7f3c0a52-51d3-4e0c-9a43-8b1f0c2d9e11',
            key: SECRET,
            algorithm: 'AES',
            alias: 'orders-key',
          },
        ],
      },
      selector: 'TemplateKekSelector',
      selectorConfig: { template: 'orders-key' },
      unresolvedKeyPolicy: 'REJECT',
    },
  },
};

export async function writeConsoleFolder(
  folder: string,
  ports: { first: number; named: number },
): Promise<void> {
  const authority = await createAuthority('console');
  const { certPem, keyPem } = await authority.issue({
    commonName: 'ends-soon',
    dns: ['*.kafka.test'],
    days: 0.2,
  });
  const loadBalancer = {
    bootstrapAddressPattern: '$(virtualClusterName).kafka.test',
    brokerAddressPattern: '$(virtualClusterName)-$(nodeId).kafka.test',
    port: ports.named,
  };
  const documents = [
    { ...API, kind: 'KafkaProxy', metadata: { name: 'edge' }, spec: {} },
    {
      ...API,
      kind: 'KafkaProxyIngress',
      metadata: { name: 'tcp' },
      spec: { proxyRef, clusterIP: { protocol: 'TCP', port: ports.first } },
    },
    { ...API, kind: 'KafkaProxyIngress', metadata: { name: 'outside' }, spec: { proxyRef, loadBalancer } },
    kafkaRef('kafka', 'embedded'),
    kafkaRef('nowhere', '127.0.0.1:1'),
    cluster('orders'),
    cluster('sealed', { filters: ['encryption'] }),
    cluster('broken', { target: 'nowhere' }),
    cluster('named', { ingress: { name: 'outside', tls: { certificateRefs: [{ name: 'tls' }] } } }),
    // A name that another one has.
    cluster('orders', { namespace: 'rivals' }),
    encryption,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tls' },
      stringData: { 'tls.crt': certPem, 'tls.key': keyPem },
    },
  ];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'all.yaml'), documents.map((one) => stringify(one)).join('---\n'));
}
