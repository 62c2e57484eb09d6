/** The thread of own-filter-check.ts. */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../ops/errors.ts';
import { checkFilter } from '../filters/registry.ts';
import type { FilterSource } from '../filters/registry.ts';
import { READY } from './own-filter-check.ts';
import type { CheckAnswer } from './own-filter-check.ts';

parentPort!.on('message', (source: FilterSource) => {
  const answer = (message: CheckAnswer) => parentPort!.postMessage(message, []);
  checkFilter(source, 'config').then(
    () => answer({}),
    (error: unknown) => answer({ problem: messageOf(error) }),
  );
});
parentPort!.postMessage(READY, []);
