/** The cluster's own DNS servers ask for all pods: they have no limit for as long as they are in its EndpointSlice, whatever addresses they have. */
import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { NOTHING_CONFIGURED } from '../../../src/control/discover/records/reserved.ts';
import { startDiscoverRoad } from '../../../src/control/discover/road.ts';
import { discoverSettings } from '../../../src/control/discover/settings.ts';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import { countTruncated } from '../dns/ask.ts';
import { apply, installKinds, remove } from './site.ts';

/** Another than loopback, which no EndpointSlice may have. */
const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

const skip = address === undefined && 'needs an address that is not of loopback';
test('a DNS server of the cluster has no limit until it is gone', { skip }, async () => {
  await using stack = new AsyncDisposableStack();
  const plane = stack.use(await startControlPlane());
  await installKinds(plane);
  await apply(plane, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'kube-dns-1',
      namespace: 'kube-system',
      labels: { 'kubernetes.io/service-name': 'kube-dns' },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ name: 'dns', port: 53, protocol: 'UDP' }],
  });

  const parts = { log: createLog('silent'), metrics: createMetrics() };
  const config = dnsConfigSchema.parse({
    listen: ['127.0.0.1:0'],
    zones: [{ name: 'xcc.test' }],
    records: [{ name: 'a.xcc.test', type: 'A', data: '10.0.0.1' }],
    rateLimit: { responsesPerSecond: 1, slip: 1, exempt: [] },
  });
  const sink = await startDns(config, { ...parts, ready: false });
  stack.defer(() => sink.close());
  const settings = discoverSettings.parse({
    clusterId: 'west',
    kubeconfig: plane.kubeconfig,
    secretsNamespace: null,
  });
  const road = startDiscoverRoad({ settings, configured: NOTHING_CONFIGURED, sink, ...parts });
  stack.defer(() => road.stop());
  await waitFor('the server', async () => sink.problem() === undefined);

  const limited = () => countTruncated(sink.port, 'a.xcc.test', address);
  await waitFor('it to be trusted', async () => (await limited()) === 0);
  assert.ok((await countTruncated(sink.port, 'a.xcc.test', '127.0.0.1')) > 0, 'others have a limit');
  await remove(plane, 'endpointslice', 'kube-dns-1', '-n', 'kube-system');
  await waitFor('it to have a limit again', async () => (await limited()) > 0);
});
