/** The files in this repository that are made from the schemas. */
import { crdName, crdYaml } from './crd.ts';
import { referencePage } from './reference.ts';
import { KINDS } from './registry.ts';

/** Path from the top of the repository → content. */
export function generatedFiles(): Map<string, string> {
  const crds = KINDS.map((kind) => {
    // CRDs of kinds that are only read serve tests; nobody should install those.
    const folder = kind.install === 'never' ? 'test/fixtures/crds' : 'deploy/crds';
    return [`${folder}/${crdName(kind)}.yaml`, crdYaml(kind)] as const;
  });
  return new Map([...crds, ['docs/reference/resources.md', referencePage()]]);
}

/** Folders that hold generated files only: anything else in them is left over from a kind that is gone. */
export const GENERATED_FOLDERS = ['deploy/crds', 'test/fixtures/crds'] as const;
