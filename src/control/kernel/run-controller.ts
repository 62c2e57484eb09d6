/** A controller beside those of a road: started, connected to what wakes it, and stopped in one place. */
import { createController } from '../../kube/controller/controller.ts';
import type { ControllerOptions } from '../../kube/controller/controller.ts';
import { aborted } from '../../ops/abort.ts';
import type { Wake } from './watches.ts';

/** Works until the signal is aborted. `connect` has it woken, and returns what ends that. */
export async function runController(
  options: ControllerOptions,
  connect: (wake: Wake) => (() => void) | Promise<() => void>,
  signal: AbortSignal,
): Promise<void> {
  const controller = createController(options);
  const disconnect = await connect(controller.enqueue);
  controller.start();
  await aborted(signal);
  disconnect();
  await controller.stop();
}
