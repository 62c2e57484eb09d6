/** The folders are the architecture: this forbids imports against its arrows. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { suite, test } from 'node:test';

const src = resolve(import.meta.dirname, '../../src');

/** What each folder of src may import, besides itself and node. `control`, `proxy` and `dns` never meet here. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  ops: [],
  resources: ['ops'],
  kube: ['ops'],
  kafka: ['ops'],
  pki: ['ops'],
  dns: ['ops'],
  probe: ['ops', 'kafka'],
  crypto: ['ops'],
  proxy: ['ops', 'kafka', 'crypto', 'pki'],
  control: ['ops', 'resources', 'kube', 'kafka', 'pki', 'probe'],
  store: ['ops', 'resources', 'kube', 'control', 'proxy', 'dns', 'kafka', 'pki'],
  view: ['ops', 'resources', 'kube', 'control'],
  console: ['ops', 'resources', 'kube', 'control', 'store', 'view'],
  cli: [
    'ops',
    'resources',
    'kube',
    'kafka',
    'pki',
    'dns',
    'probe',
    'proxy',
    'control',
    'store',
    'view',
    'console',
  ],
};

/** A filter is a guest in the proxy: it may know the public filter API, the protocol and the crypto, nothing else. */
const FILTER_MAY_IMPORT = ['proxy/filter.ts', 'kafka/', 'crypto/', 'ops/'];

/** What the rooms of a folder may import of each other, besides themselves. Tests may look further. */
const ROOMS: Record<string, Record<string, readonly string[]>> = {
  dns: {
    wire: [],
    zone: ['wire'],
    resolver: ['wire', 'zone'],
    secondary: ['wire', 'zone'],
    server: ['wire', 'zone', 'resolver', 'secondary'],
  },
  proxy: {
    'filter.ts': [],
    filters: ['filter.ts'],
    config: ['filters'],
    net: ['config'],
    cluster: ['net', 'config', 'filter.ts', 'filters'],
    router: ['cluster', 'net', 'config'],
    session: ['cluster', 'net', 'config', 'filter.ts'],
    listener: ['router', 'session', 'cluster', 'net', 'config'],
    workers: ['listener', 'router', 'cluster', 'net', 'config'],
  },
  control: {
    kernel: [],
    shared: ['kernel'],
    proxy: ['kernel', 'shared'],
    'pod-sets': ['kernel', 'shared'],
    targets: ['kernel'],
    discover: ['kernel', 'shared', 'targets', 'install'],
    brokers: ['kernel', 'shared'],
    // Its brokers are rolled by the one roller.
    redpanda: ['kernel', 'shared', 'brokers'],
    'roads.ts': [],
    install: ['kernel', 'shared', 'targets', 'proxy', 'brokers', 'redpanda', 'pod-sets', 'roads.ts'],
    join: ['kernel', 'targets', 'discover', 'install'],
    'operator.ts': ['kernel', 'targets', 'proxy', 'brokers', 'redpanda', 'pod-sets', 'install', 'roads.ts'],
  },
};

/** A room with more files of code than this is two rooms. */
const MAX_FILES = 25;

interface Import {
  from: string;
  to: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!);
  return specifiers.map((to) => ({ from: file, to: relative(src, resolve(src, dirname(file), to)) }));
}

const files = globSync('**/*.ts', { cwd: src });
const imports = files.flatMap(importsOf);
const folderOf = (path: string) => path.split('/')[0]!;

suite('imports', () => {
  test('every folder of src is on the map', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(folderOf));
    assert.deepEqual(
      [...folders].filter((folder) => !(folder in MAY_IMPORT)),
      [],
    );
  });

  test('no import goes against the arrows', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [here, there] = [folderOf(from), folderOf(to)];
      if (here === 'main.ts' || here === there) return false;
      if (from.endsWith('.test.ts') && to.startsWith('../test/support/')) return false;
      return !(MAY_IMPORT[here] ?? []).includes(there);
    });
    assert.deepEqual(wrong, []);
  });

  test('no import goes against the arrows between the rooms of a folder', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [folder, room] = from.split('/');
      const [otherFolder, otherRoom] = to.split('/');
      const rooms = ROOMS[folder!];
      if (!rooms || from.endsWith('.test.ts') || folder !== otherFolder || room === otherRoom) return false;
      // What stands beside the rooms starts them, and may know them all.
      return rooms[room!] !== undefined && !rooms[room!]!.includes(otherRoom!);
    });
    assert.deepEqual(wrong, []);
  });

  test('a filter imports only the public filter API, the protocol and the crypto', () => {
    const wrong = imports.filter(({ from, to }) => {
      const home = /^proxy\/filters\/[^/]+\//.exec(from)?.[0];
      if (home === undefined || to.startsWith(home) || from.endsWith('.test.ts')) return false;
      return !FILTER_MAY_IMPORT.some((allowed) => to.startsWith(allowed));
    });
    assert.deepEqual(wrong, []);
  });

  test('no folder is crowded', () => {
    const code = files.filter((file) => !file.endsWith('.test.ts'));
    const crowded = [...Map.groupBy(code, (file) => dirname(file))].filter(
      ([, its]) => its.length > MAX_FILES,
    );
    assert.deepEqual(
      crowded.map(([folder, its]) => `${folder} has ${its.length} files`),
      [],
    );
  });

  test('the program loads no more than its command line before it knows the command', () => {
    const loaded = new Set<string>();
    const visit = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const text = readFileSync(join(src, file), 'utf8');
      for (const [, to] of text.matchAll(/^(?:import|export) (?!type )[^;]*?'(\.[^']+)';/gms))
        visit(relative(src, resolve(src, dirname(file), to!)));
    };
    visit('main.ts');
    // A proxy that also had the operator's modules in memory would take 8 MB more.
    const heavy = [...loaded].filter((file) => !/^(main\.ts$|cli\/|ops\/|control\/roads\.ts$)/.test(file));
    assert.deepEqual(heavy, []);
  });

  test('an import says the whole file name', () => {
    assert.deepEqual(
      imports.filter(({ to }) => !/\.(tsx?|json)$/.test(to)),
      [],
    );
  });
});
