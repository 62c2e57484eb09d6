/** A DNS provider on the internet (bind9, updated by RFC 2136), and external-dns in a cluster that keeps it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { IMAGES } from '../../images/images.ts';
import { debianEnvironment, ensureDebianTree } from '../../install/debian-tree.ts';
import { ensureDnsEndpointCrd } from '../../install/external-dns.ts';
import { waitFor } from '../../../../src/store/embedded/process.ts';
import type { Server } from '../../../../src/store/embedded/process.ts';
import { OUTSIDE } from '../addresses.ts';
import { hasCondition } from '../cluster.ts';
import type { Cluster } from '../cluster.ts';
import type { Clusters } from '../clusters.ts';
import { ended } from '../machine.ts';

const KEY_NAME = 'testbed';

/** A zone on the internet that can be changed by whoever has its key. */
export interface PublicZone extends AsyncDisposable {
  readonly zone: string;
  readonly server: string;
  readonly key: string;
  /** What the zone's server answers, sorted: `ask('A', 'broker.example.test')`. */
  ask(type: string, name: string): Promise<string[]>;
}

function namedConfig(zone: string, folder: string, key: string): string {
  return `
key "${KEY_NAME}" { algorithm hmac-sha256; secret "${key}"; };
options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on { ${OUTSIDE.provider}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; allow-query { any; };
};
controls { };
zone "${zone}" {
  type primary; file "${folder}/zone";
  allow-transfer { key "${KEY_NAME}"; };
  update-policy { grant ${KEY_NAME} zonesub ANY; };
};
`;
}

const zoneText = (zone: string) => `$TTL 5
@ IN SOA ns.${zone}. nobody.${zone}. 1 60 60 60 1
@ IN NS ns.${zone}.
ns IN A ${OUTSIDE.provider}
`;

/** Starts a provider with one zone, to which the internet's DNS server sends questions about it. */
export async function startPublicZone({ outside, logs }: Clusters, zone: string): Promise<PublicZone> {
  const tree = await ensureDebianTree('bind9', ['bind9', 'bind9-dnsutils']);
  const env = debianEnvironment(tree);
  const folder = join(logs, `zone-${zone}`);
  const key = randomBytes(32).toString('base64');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'zone'), zoneText(zone));
  await writeFile(join(folder, 'named.conf'), namedConfig(zone, folder, key), { mode: 0o600 });
  const command = [join(tree, 'usr/sbin/named'), '-g', '-n', '1', '-c', join(folder, 'named.conf')];
  const named: Server = outside.serve(`named-${zone}`, command, env);
  const ask = async (type: string, name: string) => {
    const dig = [
      join(tree, 'usr/bin/dig'),
      '+short',
      '+tries=1',
      '+time=2',
      `@${OUTSIDE.provider}`,
      name,
      type,
    ];
    const { code, stdout } = await outside.run(dig, { env });
    return code === 0 ? stdout.trim().split('\n').filter(Boolean).toSorted() : [];
  };
  await waitFor(`zone ${zone}`, async () => (await ask('SOA', zone)).length > 0, {
    everyMs: 250,
    abort: () => ended(named),
  });
  await outside.delegate(zone, OUTSIDE.provider);
  return { zone, server: OUTSIDE.provider, key, ask, [Symbol.asyncDispose]: () => named.stop() };
}

/** The CRD of DNSEndpoint alone. */
export async function addDnsEndpoints(cluster: Cluster): Promise<void> {
  await cluster.apply(await readFile(await ensureDnsEndpointCrd(), 'utf8'));
  await cluster.waitFor('crd/dnsendpoints.externaldns.k8s.io', hasCondition('Established'));
}

const NAME = 'external-dns';
const metadata = { name: NAME, namespace: NAME };

const account = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAME } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: NAME },
    rules: [
      { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints/status'], verbs: ['*'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: NAME },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  },
];

/** For records of all types that we make. */
const published = ({ zone }: PublicZone, owner: string): string[] => [
  '--source=crd',
  `--domain-filter=${zone}`,
  '--policy=sync',
  '--registry=txt',
  `--txt-owner-id=${owner}`,
  ...['A', 'AAAA', 'CNAME', 'SRV'].map((type) => `--managed-record-types=${type}`),
  '--interval=5s',
  '--events',
];

function providerArgs({ zone, server, key }: PublicZone): string[] {
  return [
    '--provider=rfc2136',
    `--rfc2136-host=${server}`,
    '--rfc2136-port=53',
    `--rfc2136-zone=${zone}`,
    `--rfc2136-tsig-keyname=${KEY_NAME}`,
    `--rfc2136-tsig-secret=${key}`,
    '--rfc2136-tsig-secret-alg=hmac-sha256',
    '--rfc2136-tsig-axfr',
  ];
}

/** Runs external-dns in the cluster: it carries DNSEndpoints to the zone. Its arguments beside those of the provider can be given. */
export async function addExternalDns(
  cluster: Cluster,
  zone: PublicZone,
  args: readonly string[] = published(zone, cluster.name),
): Promise<void> {
  await cluster.load('external-dns');
  await addDnsEndpoints(cluster);
  const labels = { app: NAME };
  const all = [...args, ...providerArgs(zone)];
  const container = { name: NAME, image: IMAGES['external-dns'], args: all };
  const template = { metadata: { labels }, spec: { serviceAccountName: NAME, containers: [container] } };
  const spec = { selector: { matchLabels: labels }, strategy: { type: 'Recreate' }, template };
  await cluster.apply([...account, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }]);
  await cluster.rolledOut(`deployment/${NAME}`, { namespace: NAME });
}
