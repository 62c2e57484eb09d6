/** Kubernetes' own programs, built from source: no registry has them as binaries. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, buildGo, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const KUBERNETES_VERSION = '1.35.4';
const MODULE = 'k8s.io/kubernetes';

export type KubernetesProgram =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kube-proxy';

/** Kubernetes requires the modules of its own tree at v0.0.0 and replaces them by folders; published, they are at v0.minor.patch. */
export function stagingReplaces(goMod: string, version: string): string[] {
  const published = version.replace(/^v?1\./, 'v0.');
  return [...goMod.matchAll(/^\s*(k8s\.io\/[a-z-]+) v0\.0\.0(?:\s|$)/gm)].map(
    ([, module]) => `${module} => ${module} ${published}`,
  );
}

/** `kubectl version` and /version say what was built only if the linker is told. */
function versionFlags(version: string): string {
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version']
    .flatMap((path) => Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`))
    .join(' ');
}

async function build(into: string, programs: readonly string[]): Promise<void> {
  const version = `v${KUBERNETES_VERSION}`;
  const { goMod } = await downloadModule(MODULE, version);
  await buildGo(
    {
      name: `kubernetes-${KUBERNETES_VERSION}`,
      module: MODULE,
      version,
      replace: stagingReplaces(await readFile(goMod, 'utf8'), version),
      packages: programs.map((program) => `${MODULE}/cmd/${program}`),
      ldflags: versionFlags(KUBERNETES_VERSION),
    },
    `${into}/`,
  );
}

/** A program from `KUBEBUILDER_ASSETS`, the folder that controller-runtime's envtest uses, if the user has one. */
export function fromAssets(program: string): string | undefined {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (!assets) return undefined;
  const path = join(assets, program);
  return existsSync(path) ? path : undefined;
}

/** Builds what is missing of these programs, in one go, and returns their paths. */
export async function ensureKubernetes<P extends KubernetesProgram>(
  programs: readonly P[],
): Promise<Record<P, string>> {
  const toBuild = programs.filter((program) => fromAssets(program) === undefined);
  const home = await install({
    name: `kubernetes-${KUBERNETES_VERSION}`,
    files: toBuild,
    doing: `building ${toBuild.join(', ')} ${KUBERNETES_VERSION} (about 6 min, once)`,
    tools: GO_TOOLS,
    make: build,
  });
  return Object.fromEntries(
    programs.map((program) => [program, fromAssets(program) ?? join(home, program)]),
  ) as Record<P, string>;
}
