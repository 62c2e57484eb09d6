/** Workloads and their pods say of which version they are; nothing selects by it, since selectors never change. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { dnsManifests } from '../discover/install.ts';
import { read } from '../kernel/read.ts';
import { deployment } from '../proxy/objects/workload.ts';
import { VERSION_LABEL } from '../shared/version-label.ts';
import { consoleManifests } from './console.ts';
import { operatorManifests } from './manifests.ts';

interface Deployment {
  metadata: { labels?: Record<string, string> };
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels?: Record<string, string> } };
  };
}

const isDeployment = ({ kind }: { kind?: string | undefined }) => kind === 'Deployment';

/** On the workload, on its pods, and in its selector. */
const labelled = (object: unknown) => {
  const { metadata, spec } = object as Deployment;
  return [metadata.labels, spec.template.metadata.labels, spec.selector.matchLabels].map(
    (labels) => labels?.[VERSION_LABEL],
  );
};

function proxyDeployment(infrastructure: object, version: string | undefined): AnyObject {
  const resource = {
    apiVersion: 'kroxylicious.io/v1alpha1',
    kind: 'KafkaProxy',
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { infrastructure },
  };
  const { resource: proxy } = read(kafkaProxy, resource);
  assert.ok(proxy);
  return deployment(proxy, 'isthmus:test', version);
}

suite('the version', () => {
  const options = {
    namespace: 'isthmus-system',
    image: 'isthmus:test',
    replicas: 1,
    roads: ['proxy'] as const,
  };
  const made = (version?: string) => [
    ...operatorManifests({ ...options, version }),
    ...consoleManifests({ ...options, version }),
    ...dnsManifests({ ...options, version, config: '', imports: true, reach: 'pods' }),
  ];

  test('is on what is installed, and on its pods, and selects nothing', () => {
    const deployments = made('1.2.0').filter(isDeployment);
    assert.equal(deployments.length, 3);
    for (const one of deployments) assert.deepEqual(labelled(one), ['1.2.0', '1.2.0', undefined]);
    for (const one of made().filter(isDeployment)) assert.equal(labelled(one)[0], undefined);
  });

  test('is on proxies, whatever label of that name is wanted on them', () => {
    const infrastructure = { labels: { [VERSION_LABEL]: 'ours' } };
    assert.deepEqual(labelled(proxyDeployment(infrastructure, '1.2.0')), ['1.2.0', '1.2.0', undefined]);
  });

  test('of an image that a KafkaProxy keeps is what its owner says', () => {
    const proxy = { template: { container: { image: 'isthmus:kept' } } };
    assert.equal(labelled(proxyDeployment({ proxy }, '1.2.0'))[0], undefined);
    const labels = { [VERSION_LABEL]: '1.1.0' };
    assert.equal(labelled(proxyDeployment({ proxy, labels }, '1.2.0'))[1], '1.1.0');
  });
});
