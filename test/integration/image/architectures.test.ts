/** The image of Isthmus for both architectures, each from its own packages. Nothing of the other machine's is run. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { before, suite, test } from 'node:test';
import { writeArchive } from '../../../deploy/image/archive.ts';
import { isthmusImage, packages } from '../../../deploy/image/contents.ts';
import { readElf } from '../../../deploy/image/elf.ts';
import type { Elf } from '../../../deploy/image/elf.ts';
import { foreignLibraries } from '../../../deploy/image/foreign-libraries.ts';
import type { Image } from '../../../deploy/image/image.ts';
import { ARCHITECTURES, MACHINE, PLATFORMS } from '../../../deploy/image/platform.ts';
import type { Architecture } from '../../../deploy/image/platform.ts';
import { billOfMaterials } from '../../../deploy/image/sbom.ts';
import { treeOf } from '../../../deploy/image/tree.ts';
import { nodePackage, pinnedNode } from '../../../tools/install.mjs';
import { workspace } from '../../support/workspace.ts';

/** Stands in for the compiled program: what is copied is the same for all. */
const SOURCE = new URL('../../../src', import.meta.url).pathname;

const imageFor = (architecture: Architecture) =>
  isthmusImage('registry.test/isthmus:both', SOURCE, architecture);

function unpack(archive: string): { architecture: string; root: string } {
  const root = workspace('root');
  const read = (path: string) => execFileSync('tar', ['-xOf', archive, path], { encoding: 'utf8' });
  const [{ Config, Layers }] = JSON.parse(read('manifest.json')) as [{ Config: string; Layers: [string] }];
  execFileSync('sh', ['-c', 'tar -xOf "$0" "$1" | tar -xf - -C "$2"', archive, Layers[0], root]);
  const { architecture } = JSON.parse(read(Config)) as { architecture: string };
  return { architecture, root };
}

/** By their path in the image. */
const elfFiles = (root: string): Map<string, Elf> =>
  new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
      const elf = readElf(join(root, path));
      return elf ? [[`/${path}`, elf] as const] : [];
    }),
  );

suite('an image for each architecture', { timeout: 300_000 }, () => {
  const images = new Map<Architecture, Image>();
  before(async () => {
    for (const architecture of ARCHITECTURES) images.set(architecture, await imageFor(architecture));
  });

  // This machine's own is run by pods of other tests.
  for (const architecture of ARCHITECTURES.filter((one) => one !== MACHINE))
    test(`${architecture}: all native files are for it, and none lacks its loader or a library`, async () => {
      const archive = join(workspace('image'), 'isthmus.tar');
      await writeArchive(images.get(architecture)!, archive);
      const { architecture: told, root } = unpack(archive);
      assert.equal(told, architecture);
      const files = elfFiles(root);
      const names = [...files.keys()].map((path) => basename(path));
      assert.ok(files.has('/usr/local/bin/node'), names.join(' '));
      for (const [path, { machine, interpreter, needed }] of files) {
        assert.equal(machine, PLATFORMS[architecture].machine, path);
        if (interpreter !== undefined) assert.ok(files.has(interpreter), `${path}: ${interpreter}`);
        for (const name of needed) assert.ok(names.includes(name), `${path}: ${name}`);
      }
      // Where loaders of Debian look without a cache, and without being told.
      const folders = new Set([
        `/lib/${PLATFORMS[architecture].libraries}`,
        `/usr/lib/${PLATFORMS[architecture].libraries}`,
      ]);
      const interpreter = files.get('/usr/local/bin/node')?.interpreter;
      for (const path of files.keys())
        if (path !== interpreter && path !== '/usr/local/bin/node')
          assert.ok(folders.has(path.slice(0, path.lastIndexOf('/'))), path);
    });

  test('all of them run the same, from the same files but the native ones', () => {
    const [one, ...others] = ARCHITECTURES.map((architecture) => {
      const { contents, ...how } = images.get(architecture)!;
      const entries = treeOf(contents).filter(({ path }) => /^(app|etc|tmp)(\/|$)/.test(path));
      return { how: { ...how, architecture: undefined }, entries };
    });
    assert.ok(one!.entries.length > 100);
    for (const other of others) assert.deepEqual(other, one);
  });

  test('each has a bill of materials that says where its own parts are from', () => {
    for (const architecture of ARCHITECTURES) {
      const node = nodePackage('linux', PLATFORMS[architecture].cpu);
      const entries = treeOf(images.get(architecture)!.contents);
      const bill = billOfMaterials({
        name: 'isthmus',
        version: '1',
        architecture,
        node,
        packages: packages(),
        entries,
      });
      const refs = bill.components.map((component) => component['bom-ref']);
      assert.ok(refs.includes(`pkg:npm/${node.name}@${node.version}`));
      const libraries = bill.components.filter(({ type }) => type === 'file');
      assert.ok(libraries.length > 4);
      const origin = new RegExp(`^pkg:deb/lib[^@]+@\\d[^?]+\\?arch=${architecture}$`);
      for (const { name, properties } of libraries as { name: string; properties: { value: string }[] }[])
        assert.match(properties[0]!.value, origin, name);
    }
  });

  test('libraries are found by what ELF files say as this machine’s own loader finds them', () => {
    const node = pinnedNode();
    const loaded = treeOf([{ program: node, to: '/node' }]);
    const asLoader = loaded.flatMap(({ path, type }) =>
      /\.so/.test(path) && type === 'file' ? basename(path) : [],
    );
    const asRead = foreignLibraries(node, ['/']).map(({ path }) => basename(path));
    assert.deepEqual(asRead.toSorted(), asLoader.toSorted(), MACHINE);
  });
});
