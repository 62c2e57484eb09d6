/** A TLS server on a loopback address stands in for the broker; that a real one loads its files is shown in test/integration/brokers. */
import assert from 'node:assert/strict';
import { createPrivateKey, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:tls';
import { suite, test } from 'node:test';
import { clusterWith, poolWith } from '../../../../test/support/brokers/models.ts';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { Client } from '../../../kube/http/client.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { certifyAuthority, newPrivateKey } from '../../../pki/authority.ts';
import { loadingOf, nodeAnnotations } from '../../../pki/bundle.ts';
import { issueLeaf } from '../../../pki/certificate.ts';
import { isFault, readCertificates, readPrivateKey } from '../../../pki/certificate-facts.ts';
import { readLeaf } from '../../../pki/leaf.ts';
import { encoded } from '../../../pki/secrets.ts';
import { REPLICATION_PORT, nodeHost } from '../model/names.ts';
import { reloadCertificates } from './reload.ts';
import type { ReloadContext, Reloads } from './reload.ts';

const NAME = 'events-dual-0';
const HOUR_MS = 3_600_000;
const now = new Date();

async function material() {
  const key = newPrivateKey();
  const pem = await certifyAuthority(
    createPrivateKey(key),
    { commonName: 'ca' },
    { now, validityMs: HOUR_MS },
  );
  const authorities = readCertificates(pem);
  const own = readPrivateKey(key);
  assert.ok(!isFault(authorities) && !isFault(own));
  const [certificate] = authorities as [(typeof authorities)[number]];
  const names = [nodeHost('events', 'kafka', NAME)];
  const leaf = async () => {
    const request = { subject: { commonName: 'events-kafka' }, names, now, validityMs: HOUR_MS };
    const made = await issueLeaf({ certificate, key: own }, request);
    const data = encoded({ [`${NAME}.crt`]: made.chain, [`${NAME}.key`]: made.key });
    const stored = readLeaf(NAME, { data }, authorities);
    assert.ok(stored && !isFault(stored));
    const bundles = { 'cluster-ca': authorities, 'clients-ca': authorities };
    return { cert: made.chain, key: made.key, data, annotations: nodeAnnotations(bundles, stored) };
  };
  return { ca: pem, old: await leaf(), renewed: await leaf() };
}

suite('a broker whose certificate was renewed', () => {
  test('is told to load it, looked at, and recorded only when it presents it, however long that takes', async () => {
    const { ca, old, renewed } = await material();
    const host = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    const server = createServer(old).listen(REPLICATION_PORT, host);
    await once(server, 'listening');
    let live: AnyObject = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: NAME, namespace: 'kafka', uid: 'uid-0', annotations: old.annotations },
      status: { podIP: host, conditions: [{ type: 'Ready', status: 'True' }] },
    };
    let [asked, time, told] = [0, now.getTime(), 0];
    const cluster = clusterWith({ pools: [poolWith('dual', [0], ['broker', 'controller'])] });
    const pods = new Map([
      [NAME, { ...live, metadata: { ...live.metadata, annotations: renewed.annotations } }],
    ]);
    const policy = { validityMs: HOUR_MS, renewalMs: HOUR_MS, onExpiry: 'renew-certificate', windows: [] };
    const context = (): ReloadContext => ({
      wanted: { cluster, pods, policy, unreachable: new Set() } as unknown as ReloadContext['wanted'],
      pods: [live],
      brokers: { alterConfigs: async () => [void asked++] } as unknown as Admin,
      tls: { ca, cert: renewed.cert, key: renewed.key },
      client: () =>
        ({
          mergePatch: async (
            _type: object,
            _name: object,
            { metadata }: { metadata: AnyObject['metadata'] },
          ) => {
            const annotations = { ...live.metadata.annotations, ...metadata.annotations };
            live = { ...live, metadata: { ...live.metadata, annotations } };
          },
        }) as unknown as Client,
      secretOf: (name) => (name === NAME ? { ...live, data: renewed.data } : undefined),
      clock: () => time,
      tell: () => void told++,
    });
    const isDone = () => !loadingOf(live.metadata.annotations ?? {}, renewed.annotations).reload;
    const { signal } = new AbortController();
    const look = (before: Reloads) => reloadCertificates(context(), before, undefined, signal);
    try {
      let reloads = await look(new Map());
      assert.deepEqual([asked, reloads.size], [1, 1]);
      assert.match(reloads.get('uid-0')?.problem ?? '', /port 9091 presents another certificate/);
      // What is not presented is not recorded.
      time += HOUR_MS;
      reloads = await look(reloads);
      assert.deepEqual([asked, isDone()], [2, false]);
      server.setSecureContext(renewed);
      reloads = await look(reloads);
      assert.deepEqual([asked, reloads.size, isDone(), told], [2, 0, true, 1]);
      assert.equal((await look(reloads)).size, 0);
      assert.equal(asked, 2);
    } finally {
      server.close();
    }
  });
});
