/**
 * The bill of materials of the image, in CycloneDX 1.6: Node, the npm packages with the integrity of the lock file, and the shared
 * libraries with their hashes and the distribution's package that they came from.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { NodePackage } from '../../tools/install.mjs';
import { unpackedOrigin } from './debian-libraries.ts';
import type { Architecture } from './platform.ts';
import type { Entry } from './tree.ts';

export interface Materials {
  name: string;
  version: string;
  architecture: Architecture;
  node: NodePackage;
  /** Of the lock file, by their path in it. */
  packages: readonly (readonly [path: string, { version: string; integrity?: string; license?: string }])[];
  entries: readonly Entry[];
  /** Which package of the distribution a file belongs to; undefined where nobody can say. */
  originOf?: (file: string) => string | undefined;
}

interface Hash {
  alg: 'SHA-256' | 'SHA-512';
  content: string;
}

/** The document. The same image gives the same text, so it has neither a date nor a serial number. */
export function billOfMaterials({
  name,
  version,
  architecture,
  node,
  packages,
  entries,
  originOf = debianOrigin,
}: Materials) {
  const npm = packages.map(([path, entry]) => npmComponent(nameOf(path), entry));
  const libraries = entries.flatMap((entry) =>
    entry.type === 'file' && /\.so(\.[\d.]+)?$/.test(entry.path) && !entry.path.startsWith('app/')
      ? [libraryComponent(entry.path, entry.source, originOf(entry.source))]
      : [],
  );
  const jars = entries.flatMap((entry) =>
    entry.type === 'file' && entry.path.endsWith('.jar') ? [jarComponent(entry.path, entry.source)] : [],
  );
  const unique = new Map(
    [npmComponent(node.name, node), ...npm, ...jars, ...libraries].map((one) => [one['bom-ref'], one]),
  );
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'container',
        'bom-ref': `${name}@${version}`,
        name,
        version,
        properties: [{ name: 'isthmus:architecture', value: architecture }],
      },
    },
    components: [...unique.values()].toSorted((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  };
}

/** `node_modules/a/node_modules/@b/c` is the package `@b/c`. */
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

function npmComponent(name: string, entry: { version: string; integrity?: string; license?: string }) {
  const { version, integrity, license } = entry;
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license !== undefined && { licenses: [{ expression: license }] }),
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
  };
}

/** Of Maven Central: the name of a jar is that of the artifact and its version. */
function jarComponent(path: string, source: string) {
  const [, name = path, version = ''] = /([^/]+)-(\d[^/-]*)\.jar$/.exec(path) ?? [];
  const group = name.startsWith('prometheus') ? 'io.prometheus' : 'io.strimzi';
  const purl = `pkg:maven/${group}/${name}@${version}`;
  const content = createHash('sha256').update(readFileSync(source)).digest('hex');
  const hashes: Hash[] = [{ alg: 'SHA-256', content }];
  return { type: 'library', 'bom-ref': purl, name, version, purl, hashes };
}

function hashOf(integrity: string): Hash {
  const [, content = ''] = /^sha512-(.+)$/.exec(integrity) ?? [];
  return { alg: 'SHA-512', content: Buffer.from(content, 'base64').toString('hex') };
}

function libraryComponent(path: string, source: string, origin: string | undefined) {
  const content = createHash('sha256').update(readFileSync(source)).digest('hex');
  return {
    type: 'file',
    'bom-ref': `/${path}`,
    name: `/${path}`,
    hashes: [{ alg: 'SHA-256' as const, content }],
    properties: [{ name: 'isthmus:origin', value: origin ?? 'the machine that built the image' }],
  };
}

/** The Debian package and version that a file is of: one that was unpacked for this, or one of this machine's. */
function debianOrigin(file: string): string | undefined {
  return unpackedOrigin(file) ?? installedOrigin(file);
}

function installedOrigin(file: string): string | undefined {
  const ask = (command: string, ...args: string[]) =>
    execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  // Packages know files by the path they had before /lib became /usr/lib.
  for (const path of [file, file.replace(/^\/usr/, '')]) {
    try {
      const [name = ''] = ask('dpkg-query', '-S', path).split(': ');
      return ask('dpkg-query', '-W', '-f', 'pkg:deb/${Package}@${Version}?arch=${Architecture}', name);
    } catch {
      // not of this path, or not a Debian
    }
  }
  return undefined;
}
