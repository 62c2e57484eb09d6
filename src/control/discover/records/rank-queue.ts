import { isBefore } from './name-tree.ts';
import type { Entry } from './name-tree.ts';

/** Entries that are to be decided anew, the first in rank first; each is in it once. */
export interface RankQueue {
  add(entry: Entry): void;
  take(): Entry | undefined;
}

/** A binary heap. An entry's rank must not change while it is in the queue. */
export function createRankQueue(): RankQueue {
  const heap: Entry[] = [];
  const queued = new Set<Entry>();
  const swap = (i: number, j: number) => ([heap[i], heap[j]] = [heap[j]!, heap[i]!]);

  function sink(): void {
    for (let i = 0; ;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let first = i;
      if (left < heap.length && isBefore(heap[left]!, heap[first]!)) first = left;
      if (right < heap.length && isBefore(heap[right]!, heap[first]!)) first = right;
      if (first === i) return;
      swap(i, first);
      i = first;
    }
  }

  return {
    add(entry) {
      if (queued.has(entry)) return;
      queued.add(entry);
      heap.push(entry);
      for (let i = heap.length - 1; i > 0;) {
        const parent = (i - 1) >> 1;
        if (!isBefore(heap[i]!, heap[parent]!)) return;
        swap(i, parent);
        i = parent;
      }
    },
    take() {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      queued.delete(first);
      if (heap.length > 0) {
        heap[0] = last;
        sink();
      }
      return first;
    },
  };
}
