import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DEBIAN_TOOLS, unpackDebian } from '../../test/support/install/debian.ts';
import { install } from '../../src/store/embedded/cache.ts';

export interface Haproxy {
  program: string;
  env: Record<string, string>;
}

/** Debian's haproxy, unpacked into the cache. */
export async function ensureHaproxy(): Promise<Haproxy> {
  const home = await install({
    name: 'haproxy-debian',
    files: ['usr'],
    doing: 'fetching haproxy (some seconds, once)',
    tools: DEBIAN_TOOLS,
    make: (into) => unpackDebian('haproxy', into),
  });
  const libraries = globSync(join(home, '{usr/lib,lib}/*-linux-*'));
  return { program: join(home, 'usr/sbin/haproxy'), env: { LD_LIBRARY_PATH: libraries.join(':') } };
}

/** Plain TCP forwarding with Debian's defaults, one port in the clear and one behind TLS. */
export function haproxyConfig(
  upstream: string,
  ports: { plain: number; tls: number },
  pemFile: string,
): string {
  return `global
    maxconn 8000
    ssl-default-bind-options ssl-min-ver TLSv1.2
defaults
    mode tcp
    timeout connect 10s
    timeout client 10m
    timeout server 10m
    maxconn 8000
listen plain
    bind 127.0.0.1:${ports.plain}
    server broker ${upstream}
listen tls
    bind 127.0.0.1:${ports.tls} ssl crt ${pemFile}
    server broker ${upstream}
`;
}
