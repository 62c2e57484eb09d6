/** What a pod does that the operator has look at exposed brokers from another cluster. It is no command of anybody's. */
import { writeFileSync } from 'node:fs';
import { IsthmusError } from '../../ops/errors.ts';

/** Does the task, and writes what it saw into the file. */
export async function runProbeTask([packed = '', file = '']: readonly string[]): Promise<void> {
  const { runTask, unpackTask } = await import('../../control/brokers/vantage/task.ts');
  const task = unpackTask(packed);
  if (!task || file === '') throw new IsthmusError('USAGE', 'this is for the operator to call');
  writeFileSync(file, await runTask(task));
}
