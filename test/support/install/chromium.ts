/** Debian's Chromium without windows, and letters for it to write with. */
import { join } from 'node:path';
import { debianEnvironment, ensureDebianTree } from './debian-tree.ts';

export interface Chromium {
  executable: string;
  environment: Record<string, string>;
}

export async function ensureChromium(): Promise<Chromium> {
  const tree = await ensureDebianTree('chromium', ['chromium-headless-shell', 'fonts-dejavu-core']);
  const environment = debianEnvironment(tree);
  const libraries = environment['LD_LIBRARY_PATH']!;
  // One of its libraries has others in a folder of its own, where the installed one would find them.
  const own = libraries.split(':').map((folder) => join(folder, 'pulseaudio'));
  return {
    executable: join(tree, 'usr/lib/chromium/chromium-headless-shell'),
    environment: { ...environment, LD_LIBRARY_PATH: [libraries, ...own].join(':') },
  };
}
