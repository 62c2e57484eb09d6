/** zsh and fish as Debian has them, unpacked into the cache. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { debianEnvironment, ensureDebianTree } from './debian-tree.ts';

export interface Shells {
  zsh: string;
  fish: string;
  /** Where both look for what they load: they were built to be somewhere else. */
  zshModules: string;
  zshFunctions: readonly string[];
  fishFunctions: string;
  env: Record<string, string>;
}

export async function ensureShells(): Promise<Shells> {
  const tree = await ensureDebianTree('shells', ['zsh', 'fish']);
  const [zshModules = ''] = globSync(join(tree, 'usr/lib/*/zsh/*/'));
  return {
    zsh: join(tree, 'bin/zsh'),
    fish: join(tree, 'usr/bin/fish'),
    zshModules,
    zshFunctions: globSync(join(tree, 'usr/share/zsh/functions/{Zle,Completion,Completion/*}/')),
    fishFunctions: join(tree, 'usr/share/fish/functions'),
    env: debianEnvironment(tree),
  };
}
