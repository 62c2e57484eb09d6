/** external-dns, which carries DNSEndpoint records to DNS servers, built from source, with the CRD of DNSEndpoint. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, buildGo, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

/** Newer ones want a newer Go than is out. */
export const EXTERNAL_DNS_VERSION = '0.22.0';
const MODULE = 'sigs.k8s.io/external-dns';

/** The module proxy has no such versions of two modules of providers that no test uses; near ones compile as well. */
const REPLACE = [
  'github.com/exoscale/egoscale/v3 => github.com/exoscale/egoscale/v3 v3.1.43',
  'github.com/openshift/api => github.com/openshift/api v0.0.0-20251015095338-264e80a2b6e7',
];

async function writeCrd(into: string): Promise<void> {
  const { directory } = await downloadModule(MODULE, `v${EXTERNAL_DNS_VERSION}`);
  await copyFile(
    join(directory, 'charts/external-dns/crds/dnsendpoints.externaldns.k8s.io.yaml'),
    join(into, 'crd.yaml'),
  );
}

/** The path of the CRD of DNSEndpoint. */
export async function ensureDnsEndpointCrd(): Promise<string> {
  const home = await install({
    name: `dns-endpoint-${EXTERNAL_DNS_VERSION}`,
    files: ['crd.yaml'],
    doing: `fetching the CRD of external-dns ${EXTERNAL_DNS_VERSION} (some seconds, once)`,
    tools: GO_TOOLS,
    make: writeCrd,
  });
  return join(home, 'crd.yaml');
}

/** The path of external-dns. */
export async function ensureExternalDns(): Promise<string> {
  const name = `external-dns-${EXTERNAL_DNS_VERSION}`;
  const home = await install({
    name,
    files: ['external-dns'],
    doing: `building external-dns ${EXTERNAL_DNS_VERSION} (about 6 min, once)`,
    tools: GO_TOOLS,
    make: (into) =>
      buildGo(
        { name, module: MODULE, version: `v${EXTERNAL_DNS_VERSION}`, packages: [MODULE], replace: REPLACE },
        join(into, 'external-dns'),
      ),
  });
  return join(home, 'external-dns');
}
