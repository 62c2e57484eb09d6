/** Clients of virtual clusters: Kafka's own Java tools in a pod, and librdkafka on a machine outside. */
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';
import type { Outside } from '../../support/clusters/outside.ts';
import { IMAGES } from '../../support/images/images.ts';
import { ensureConfluentKafka } from '../../support/install/python.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { NAMESPACE, where } from './road.ts';

const BIN = '/opt/kafka/bin';
const CONFLUENT = resolve(import.meta.dirname, '../../support/clients/confluent.py');

/** By itself the console producer gives up a record after three times one and a half seconds. */
const PATIENT = `acks=all
retries=2147483647
request.timeout.ms=30000
delivery.timeout.ms=180000
max.block.ms=180000
`;
const PROPERTIES = {
  'plain.properties': PATIENT,
  'tls.properties': `${PATIENT}security.protocol=SSL
ssl.truststore.type=PEM
ssl.truststore.location=/config/ca.crt
`,
};

/** Starts a pod `client` with Kafka's tools, which trusts the authority. */
export async function startClientPod(cluster: Cluster, caPem: string): Promise<void> {
  const metadata = { name: 'client', namespace: NAMESPACE };
  const container = {
    name: 'client',
    image: IMAGES.kafka,
    command: ['sleep', '1000000'],
    volumeMounts: [{ name: 'config', mountPath: '/config' }],
  };
  const volumes = [{ name: 'config', configMap: { name: 'client' } }];
  await cluster.apply([
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ...PROPERTIES, 'ca.crt': caPem } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { terminationGracePeriodSeconds: 0, containers: [container], volumes },
    },
  ]);
  await cluster.waitFor('pod/client', hasCondition('Ready'), where);
}

/** Writes lines to a topic from the pod, and returns what is read from its beginning. */
export async function exchangeInPod(
  cluster: Cluster,
  protocol: 'plain' | 'tls',
  bootstrap: string,
  topic: string,
  lines: readonly string[],
): Promise<string[]> {
  const tool = async (name: string, more: readonly string[], stdin?: string) => {
    const config = ['--bootstrap-server', bootstrap, '--command-config', `/config/${protocol}.properties`];
    const command = [`${BIN}/${name}.sh`, ...config, '--topic', topic, ...more];
    const options = stdin === undefined ? where : { ...where, stdin };
    const { code, stdout, stderr } = await cluster.exec('client', command, options);
    // The console producer logs a record that it could not send, and still ends with 0.
    assert.ok(code === 0 && !stderr.includes(' ERROR '), `${name} (${code}): ${stderr}`);
    return stdout;
  };
  // Java's clients give up at once if nobody knows the name, and the cluster's DNS learns it when it learns it.
  const question = ['nslookup', '-type=a', `${bootstrap.split(':')[0]}.`];
  const isKnown = async () => (await cluster.exec('client', question, where)).code === 0;
  await waitFor(`an address of ${bootstrap}`, isKnown, { everyMs: 500 });
  await tool('kafka-console-producer', [], lines.map((line) => `${line}\n`).join(''));
  const end = ['--from-beginning', '--max-messages', String(lines.length), '--timeout-ms', '180000'];
  return (await tool('kafka-console-consumer', end)).split('\n').slice(0, -1);
}

/** The same from outside, by TLS. */
export async function exchangeOutside(
  outside: Outside,
  caFile: string,
  bootstrap: string,
  topic: string,
  lines: readonly string[],
): Promise<string[]> {
  const ask = async (action: string, particulars: object) => {
    const config = {
      'bootstrap.servers': bootstrap,
      'security.protocol': 'ssl',
      'ssl.ca.location': caFile,
    };
    const { code, stdout, stderr } = await outside.run(['python3', CONFLUENT], {
      stdin: JSON.stringify({ action, config, topic, timeoutMs: 180_000, ...particulars }),
      env: { PYTHONPATH: await ensureConfluentKafka() },
      timeoutMs: 240_000,
    });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as { value: string }[];
  };
  await ask('produce', { records: lines.map((value) => ({ key: 'same partition', value })) });
  const read = await ask('consume', { count: lines.length, group: `readers of ${topic}` });
  return read.map(({ value }) => value);
}

/** Where a client finds the authority's certificate. */
export const caFileIn = (folder: string) => join(folder, 'ca.crt');
