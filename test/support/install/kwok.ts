/** kwok, which plays nodes and pods for a control plane that has none. Built from source; only for tests that ask. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, buildGo, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const KWOK_VERSION = '0.8.0';
const MODULE = 'sigs.k8s.io/kwok';
/** What nodes and pods go through, at once and without failures; kwok refuses to start without any. */
const STAGES = ['node/fast', 'node/heartbeat-with-lease', 'pod/fast'];

async function stageFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml') && entry.name !== 'kustomization.yaml')
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/testdata/'))
    .toSorted();
}

async function make(into: string): Promise<void> {
  const version = `v${KWOK_VERSION}`;
  const { directory } = await downloadModule(MODULE, version);
  const paths = (
    await Promise.all(STAGES.map((stage) => stageFiles(join(directory, 'kustomize/stage', stage))))
  ).flat();
  const documents = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
  await writeFile(join(into, 'stages.yaml'), documents.join('\n---\n'));
  await buildGo(
    { name: `kwok-${KWOK_VERSION}`, module: MODULE, version, packages: [`${MODULE}/cmd/kwok`] },
    join(into, 'kwok'),
  );
}

/** The paths of kwok and of its stages. */
export async function ensureKwok(): Promise<{ program: string; stages: string }> {
  const home = await install({
    name: `kwok-${KWOK_VERSION}`,
    files: ['kwok', 'stages.yaml'],
    doing: `building kwok ${KWOK_VERSION} (about 2 min, once)`,
    tools: GO_TOOLS,
    make,
  });
  return { program: join(home, 'kwok'), stages: join(home, 'stages.yaml') };
}
