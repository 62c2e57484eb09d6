import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { createAuthority } from '../../../test/support/pki.ts';
import { checkProxyConfig } from '../../proxy/config/load.ts';
import { runProgram } from '../program.ts';
import type { Terminal } from '../terminal.ts';

const KEY = 'c2VjcmV0LXZhbHVlLW9mLXRoaXMtdGVzdC0hISEhISE=';
const meta = (name: string) => ({ apiVersion: 'kroxylicious.io/v1alpha1', metadata: { name } });
const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});

/** A virtual cluster with a certificate, and a filter with a key of a Secret. */
function documents(tls: { certPem: string; keyPem: string }): object[] {
  const proxyRef = { name: 'edge' };
  const loadBalancer = {
    bootstrapAddressPattern: '$(virtualClusterName).example.test',
    brokerAddressPattern: '$(virtualClusterName)-$(nodeId).example.test',
  };
  const kek = {
    uuid: '7f3c0a52-51d3-4e0c-9a43-8b1f0c2d9e11',
    key: '${secret:keys:key}',
    algorithm: 'AES',
    alias: 'a',
  };
  const config = {
    kms: 'UnitTestingKmsService',
    kmsConfig: { existingKeks: [kek] },
    selector: 'TemplateKekSelector',
    selectorConfig: { template: 'a' },
  };
  return [
    { ...meta('edge'), kind: 'KafkaProxy', spec: {} },
    { ...meta('outside'), kind: 'KafkaProxyIngress', spec: { proxyRef, loadBalancer } },
    { ...meta('main'), kind: 'KafkaClusterRef', spec: { bootstrap: 'kafka.example:9092' } },
    {
      ...meta('orders'),
      kind: 'VirtualKafkaCluster',
      spec: {
        proxyRef,
        ingresses: [{ name: 'outside', tls: { certificateRefs: [{ name: 'tls' }] } }],
        targetCluster: { clusterRef: { name: 'main' } },
        filterRefs: [{ name: 'encryption' }],
      },
    },
    {
      ...meta('encryption'),
      apiVersion: 'filter.kroxylicious.io/v1alpha1',
      kind: 'KafkaProtocolFilter',
      spec: { type: 'io.kroxylicious.filter.encryption.RecordEncryption', config },
    },
    secret('keys', { key: KEY }),
    secret('tls', { 'tls.crt': tls.certPem, 'tls.key': tls.keyPem }),
  ];
}

async function isthmus(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const terminal: Terminal = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    exitCode: 0,
  };
  return { code: await runProgram(['config', 'render', ...args], terminal), ...written };
}

suite('config render', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-render-'));
  const file = join(folder, 'all.yaml');
  let privateKey = '';
  before(async () => {
    const authority = await createAuthority('render');
    const tls = await authority.issue({ commonName: 'x', dns: ['*.example.test'] });
    privateKey = tls.keyPem;
    writeFileSync(
      file,
      documents(tls)
        .map((one) => stringify(one))
        .join('---\n'),
    );
  });
  after(() => rmSync(folder, { recursive: true }));

  test('is what the operator’s planner makes of files for a pod, and a proxy would take it', async () => {
    const { code, out, err } = await isthmus('-f', folder);
    assert.deepEqual([code, err], [0, '']);
    const document = parse(out) as { management: object; virtualClusters: { name: string }[] };
    assert.ok(document.management, 'as in a pod, not as on this machine');
    assert.deepEqual(
      document.virtualClusters.map(({ name }) => name),
      ['orders'],
    );
    checkProxyConfig(document, 'what was rendered');
  });

  test('shows placeholders in the place of secrets, and certificates without their keys', async () => {
    const { out } = await isthmus('edge', '-f', file, '-o', 'json');
    const { pem } = JSON.parse(out) as { pem: Record<string, string> };
    assert.equal(Object.values(pem).filter((text) => text.includes('BEGIN CERTIFICATE')).length, 1);
    assert.ok(Object.values(pem).includes('(redacted)'));
    assert.ok(out.includes('${secret:keys:key}'));
    const secrets = [KEY, Buffer.from(KEY).toString('base64'), 'PRIVATE KEY', privateKey.split('\n')[1]!];
    assert.deepEqual(
      secrets.filter((one) => out.includes(one)),
      [],
    );
  });

  test('what is not served is told of, and ends with 1', async () => {
    const broken = join(folder, 'broken');
    writeFileSync(
      broken,
      documents({ certPem: 'x', keyPem: 'y' })
        .map((one) => stringify(one))
        .join('---\n'),
    );
    const { code, out, err } = await isthmus('-f', broken);
    assert.equal(code, 1);
    assert.match(err, /^✖ VirtualKafkaCluster "orders": InvalidReferencedResource: /);
    assert.match(out, /^virtualClusters: \[\]$/m);
  });

  test('a proxy that is not there is wrong usage', async () => {
    const other = await isthmus('other', '-f', file);
    assert.deepEqual(
      [other.code, /there is no KafkaProxy "other"; .* there are edge/.test(other.err)],
      [2, true],
    );
    assert.equal((await isthmus('-f', join(folder, 'nothing'))).code, 2);
  });
});
