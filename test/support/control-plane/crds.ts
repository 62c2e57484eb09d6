/** The kinds of this project, and those of others that it works with. */
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane.ts';
import { untilKindsAreServed } from './served.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Applies the CRDs as a user would, and waits until they are served. */
export async function applyCrds(plane: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  const folders = ['deploy/crds', 'test/fixtures/crds', 'test/fixtures/monitoring'].flatMap((folder) => [
    '-f',
    join(ROOT, folder),
  ]);
  const { code, stderr } = await plane.kubectl(['apply', '--server-side', ...folders]);
  if (code !== 0) throw new Error(`the CRDs cannot be applied: ${stderr}`);
  await untilKindsAreServed(plane);
}
