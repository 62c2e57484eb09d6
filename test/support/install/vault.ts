/** HashiCorp Vault, built from source, for `npm run test:kms` alone: it is the longest build of all. For tests only, never shipped. */
import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, downloadModule } from './go.ts';
import { cached, install, step } from '../../../src/store/embedded/cache.ts';

export const VAULT_VERSION = '1.21.4';
const MODULE = 'github.com/hashicorp/vault';

/**
 * The module has been cut out of a repository with several, whose unreleased code it calls in three places. Those are made to
 * call what was published, none of which any test goes through.
 */
const EDITS: { file: string; from: RegExp; to: string }[] = [
  { file: 'go.mod', from: /^replace \S+ => \.\/.*$/gm, to: '' },
  {
    file: 'builtin/logical/transit/path_restore.go',
    from: /restoredKeyName, err := (b\.lm\.RestorePolicy\([^)]*\))/,
    to: 'restoredKeyName := keyName\n\terr := $1',
  },
  {
    file: 'vault/identity_store_util.go',
    from: /(activateDeduplication\(ctx context\.Context, req \*logical\.Request)\)/,
    to: '$1, _ string)',
  },
  {
    file: 'vault/logical_system_activation_flags.go',
    from: /ActivationFunc\(ctx, nil\)/,
    to: 'ActivationFunc(ctx, nil, "")',
  },
];

async function edit(directory: string): Promise<void> {
  for (const { file, from, to } of EDITS) {
    const path = join(directory, file);
    const before = await readFile(path, 'utf8');
    const after = before.replace(from, to);
    if (after === before) throw new Error(`${file} of Vault ${VAULT_VERSION} is not what it was`);
    await chmod(path, 0o644);
    await writeFile(path, after);
  }
}

async function build(into: string): Promise<void> {
  const { directory: source } = await downloadModule(MODULE, `v${VAULT_VERSION}`);
  const directory = cached('build', `vault-${VAULT_VERSION}`);
  await rm(directory, { recursive: true, force: true });
  await cp(source, directory, { recursive: true });
  await step('chmod', ['-R', 'u+w', directory]); // Go keeps its modules unwritable
  await edit(directory);
  // A module that the proxy refuses would be tried at its repository, which never ends where there is none.
  const [proxy] = (await step('go', ['env', 'GOPROXY'])).trim().split(',');
  await step(
    'go',
    ['build', '-trimpath', '-tags', 'minimal', '-ldflags', '-s -w', '-o', join(into, 'vault'), '.'],
    {
      cwd: directory,
      env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -mod=mod', GOWORK: 'off', GOPROXY: proxy },
      timeoutMs: 60 * 60_000,
    },
  );
}

/** The path of Vault. */
export async function ensureVault(): Promise<string> {
  const home = await install({
    name: `vault-${VAULT_VERSION}`,
    files: ['vault'],
    doing: `building Vault ${VAULT_VERSION} (about 12 min and 3 GB of memory, once)`,
    tools: { ...GO_TOOLS, chmod: 'install the core utilities' },
    make: build,
  });
  return join(home, 'vault');
}
