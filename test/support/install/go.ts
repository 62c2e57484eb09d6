/** Programs built from modules of the Go module proxy, through a small wrapper module of our own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cached, step } from '../../../src/store/embedded/cache.ts';

export const GO_TOOLS = {
  go: 'install Go 1.21 or newer (it fetches a newer toolchain by itself where one is needed)',
};

/** `-mod=mod` lets the build complete go.mod and go.sum: quicker than `go mod tidy`, which fetches tests' modules too. */
const BUILD_ENVIRONMENT = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -mod=mod', GOWORK: 'off' };

export interface GoBuild {
  /** Directory of the wrapper module in the cache's `build`. */
  name: string;
  module: string;
  version: string;
  packages: readonly string[];
  /** Lines `old => new version` for modules that the module's own go.mod would replace. */
  replace?: readonly string[];
  ldflags?: string;
}

/** Where the Go client keeps a module's go.mod and its unpacked source. */
export async function downloadModule(
  module: string,
  version: string,
): Promise<{ goMod: string; directory: string }> {
  await mkdir(cached('build'), { recursive: true });
  const text = await step('go', ['mod', 'download', '-json', `${module}@${version}`], {
    cwd: cached('build'),
    env: { GOWORK: 'off' },
  });
  const { GoMod, Dir } = JSON.parse(text) as { GoMod: string; Dir: string };
  return { goMod: GoMod, directory: Dir };
}

/** Builds the packages into a directory, each under its last path element (or `output`, if there is just one). */
export async function buildGo(build: GoBuild, output: string): Promise<void> {
  const directory = cached('build', build.name);
  await mkdir(directory, { recursive: true });
  const replaces = (build.replace ?? []).map((line) => `replace ${line}\n`).join('');
  await writeFile(
    `${directory}/go.mod`,
    `module testbed\n\ngo 1.21\n\nrequire ${build.module} ${build.version}\n\n${replaces}`,
  );
  const args = [
    'build',
    '-trimpath',
    '-ldflags',
    `-s -w ${build.ldflags ?? ''}`,
    '-o',
    output,
    ...build.packages,
  ];
  await step('go', args, { cwd: directory, env: BUILD_ENVIRONMENT });
}
