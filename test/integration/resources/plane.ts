/** A control plane that has all CRDs of this project. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';

const root = join(import.meta.dirname, '../../..');

/** Applies the CRDs as a user would, and waits until they are served. */
export async function startPlaneWithCrds(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await startControlPlane(options);
  try {
    const folders = ['deploy/crds', 'test/fixtures/crds'].flatMap((folder) => ['-f', join(root, folder)]);
    const applied = await plane.kubectl(['apply', '--server-side', ...folders]);
    assert.equal(applied.code, 0, applied.stderr);
    await untilKindsAreServed(plane);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}
