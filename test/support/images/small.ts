/** The images that hold one program: what every cluster needs, and what some tests ask for. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Image } from '../../../deploy/image/image.ts';
import type { Content } from '../../../deploy/image/tree.ts';
import { ensureC } from '../install/c.ts';
import { COREDNS_VERSION, ensureCoreDns } from '../install/coredns.ts';
import { ENVOY_GATEWAY_VERSION, ensureEnvoyGateway } from '../install/envoy-gateway.ts';
import { ENVOY_VERSION, ensureEnvoy } from '../install/envoy.ts';
import { EXTERNAL_DNS_VERSION, ensureExternalDns } from '../install/external-dns.ts';
import { ensureNodeTools } from '../install/node-tools.ts';

/** A registry that never resolves: nothing is ever pulled. */
const REGISTRY = 'registry.test';

export const REFERENCES = {
  pause: `${REGISTRY}/pause:1`,
  busybox: `${REGISTRY}/busybox:1`,
  coredns: `${REGISTRY}/coredns:${COREDNS_VERSION}`,
  envoy: `${REGISTRY}/envoy:${ENVOY_VERSION}`,
  'envoy-gateway': `${REGISTRY}/envoy-gateway:${ENVOY_GATEWAY_VERSION}`,
  'external-dns': `${REGISTRY}/external-dns:${EXTERNAL_DNS_VERSION}`,
} as const;

export type SmallImage = keyof typeof REFERENCES;

const ETC: Content[] = [
  { text: 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/:/none\n', to: '/etc/passwd' },
  { text: 'root:x:0:\nnonroot:x:65532:\n', to: '/etc/group' },
  { text: 'hosts: files dns\n', to: '/etc/nsswitch.conf' },
  { directory: '/tmp', mode: 0o1777 },
];

/** Path of the program that `pause.c` makes. */
export function ensurePause(): Promise<string> {
  return ensureC(join(import.meta.dirname, 'pause.c'));
}

/** busybox with a link for each of its commands: a shell and clients for tests. */
export function busyboxContents(busybox: string): Content[] {
  const commands = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  const links = commands.filter((command) => command !== 'busybox' && !command.includes('['));
  return [
    ...ETC,
    { program: busybox, to: '/bin/busybox' },
    ...links.map((command) => ({ link: `/bin/${command}`, target: 'busybox' })),
  ];
}

function single(name: SmallImage, program: string, to: string): Image {
  return { name: REFERENCES[name], contents: [...ETC, { program, to }], entrypoint: [to] };
}

/** How each image is made, once its program is there. */
export const SMALL_IMAGES: Record<SmallImage, () => Promise<Image>> = {
  pause: async () => ({
    name: REFERENCES.pause,
    contents: [{ program: await ensurePause(), to: '/pause' }],
    entrypoint: ['/pause'],
    user: '65535:65535',
  }),
  busybox: async () => ({
    name: REFERENCES.busybox,
    contents: busyboxContents((await ensureNodeTools()).busybox),
    entrypoint: [],
    command: ['sh'],
  }),
  coredns: async () => single('coredns', await ensureCoreDns(), '/coredns'),
  envoy: async () => single('envoy', await ensureEnvoy(), '/usr/local/bin/envoy'),
  'envoy-gateway': async () =>
    single('envoy-gateway', (await ensureEnvoyGateway()).program, '/usr/local/bin/envoy-gateway'),
  'external-dns': async () => single('external-dns', await ensureExternalDns(), '/external-dns'),
};
