/** Services that lead to a name elsewhere: whoever asks the cluster's own DNS, a real CoreDNS before ours, gets addresses. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startControlPlane } from '../../support/control-plane.ts';
import { startForwarder } from '../dns/forwarder.ts';
import { startBind } from '../dns/reference-servers.ts';
import { ensureDnsTools } from '../dns/tools.ts';
import { apply, asking, service, startSite } from './site.ts';

const ELSEWHERE = [
  { name: 'ns.cloud.test', type: 'A', data: '192.0.2.53' },
  { name: 'db.cloud.test', type: 'CNAME', data: 'db-1.cloud.test' },
  { name: 'db-1.cloud.test', type: 'A', data: '192.0.2.7' },
  { name: 'db-1.cloud.test', type: 'AAAA', data: '2001:db8::7' },
  { name: 'lb.cloud.test', type: 'A', data: '192.0.2.8' },
  { name: 'lb.cloud.test', type: 'A', data: '192.0.2.9' },
] as const;

suite('an annotated Service that leads to a name elsewhere', () => {
  test('of type ExternalName, and of a load balancer with a host name: pods get addresses', async () => {
    const tools = await ensureDnsTools();
    await using plane = await startControlPlane();
    await using bind = await startBind(tools, [{ name: 'cloud.test', records: [...ELSEWHERE] }]);
    await using site = await startSite({ west: plane }, { resolver: [`127.0.0.1:${bind.port}`] });
    await using core = await startForwarder('xcc.test', site.dns.port);
    const ask = asking(core.port);
    await apply(
      plane,
      service('db', 'db.xcc.test', { type: 'ExternalName', externalName: 'db.cloud.test' }),
      service('lb', 'lb.xcc.test', { type: 'LoadBalancer', clusterIP: '10.96.7.25' }),
    );
    const status = { loadBalancer: { ingress: [{ hostname: 'lb.cloud.test' }] } };
    const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })];
    await plane.kubectl(['patch', 'service', 'lb', ...patch]);

    // CoreDNS keeps what it is told, so it is asked only once the names are there.
    await site.expect('db.xcc.test', ['db.cloud.test'], 'CNAME');
    await site.expect('lb.xcc.test', ['lb.cloud.test'], 'CNAME');
    assert.deepEqual(await ask('db.xcc.test'), ['192.0.2.7']);
    assert.deepEqual(await ask('db.xcc.test', 'AAAA'), ['2001:db8::7']);
    assert.deepEqual(await ask('lb.xcc.test'), ['192.0.2.8', '192.0.2.9']);
  });
});
