/**
 * Envoy Gateway, a Gateway API controller, built from source, with the CRDs of both: they are inside the modules.
 * Only for tests that ask: it is the longest build of all.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GO_TOOLS, buildGo, downloadModule } from './go.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export const ENVOY_GATEWAY_VERSION = '1.9.1';
export const GATEWAY_API_VERSION = '1.6.1';
const MODULE = 'github.com/envoyproxy/gateway';

async function documents(directory: string): Promise<string> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return texts.filter((text) => text.includes('kind: CustomResourceDefinition')).join('\n---\n');
}

/** Envoy Gateway keeps its CRDs as chart templates that hold nothing but an `if` around each. */
function withoutTemplateLines(text: string): string {
  return text.replaceAll(/^\{\{.*\}\}$/gm, '');
}

async function writeGatewayApiCrds(into: string): Promise<void> {
  const { directory } = await downloadModule('sigs.k8s.io/gateway-api', `v${GATEWAY_API_VERSION}`);
  await writeFile(into, await documents(join(directory, 'config/crd/standard')));
}

async function make(into: string): Promise<void> {
  const version = `v${ENVOY_GATEWAY_VERSION}`;
  const { directory } = await downloadModule(MODULE, version);
  const crds = await documents(join(directory, 'charts/gateway-crds-helm/templates/generated'));
  await writeFile(join(into, 'crds.yaml'), withoutTemplateLines(crds));
  const build = { name: `envoy-gateway-${ENVOY_GATEWAY_VERSION}`, module: MODULE, version };
  await buildGo({ ...build, packages: [`${MODULE}/cmd/envoy-gateway`] }, join(into, 'envoy-gateway'));
}

/** The path of the Gateway API's CRDs (standard channel). */
export async function ensureGatewayApiCrds(): Promise<string> {
  const home = await install({
    name: `gateway-api-${GATEWAY_API_VERSION}`,
    files: ['crds.yaml'],
    doing: `fetching the Gateway API ${GATEWAY_API_VERSION} (some seconds, once)`,
    tools: GO_TOOLS,
    make: (into) => writeGatewayApiCrds(join(into, 'crds.yaml')),
  });
  return join(home, 'crds.yaml');
}

/** The paths of envoy-gateway and of its own CRDs. */
export async function ensureEnvoyGateway(): Promise<{ program: string; crds: string }> {
  const home = await install({
    name: `envoy-gateway-${ENVOY_GATEWAY_VERSION}`,
    files: ['envoy-gateway', 'crds.yaml'],
    doing: `building Envoy Gateway ${ENVOY_GATEWAY_VERSION} (about 6 min, once)`,
    tools: GO_TOOLS,
    make,
  });
  return { program: join(home, 'envoy-gateway'), crds: join(home, 'crds.yaml') };
}
