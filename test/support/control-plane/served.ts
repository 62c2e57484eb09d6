/** Waits for kinds that CRDs define. */
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { ControlPlane } from '../control-plane.ts';

/** Waits until clients find the kinds of all CRDs: the server says `Established` of one a moment before they do. */
export async function untilKindsAreServed({ kubectl }: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  const lines = async (...args: string[]) =>
    (await kubectl(args)).stdout.split('\n').filter((line) => line !== '');
  await waitFor('the kinds of all CRDs', async () => {
    const defined = await lines('get', 'crd', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}');
    const served = new Set(await lines('api-resources', '-o', 'name'));
    return defined.length > 0 && defined.every((name) => served.has(name));
  });
}
