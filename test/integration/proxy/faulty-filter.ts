/** A filter as nobody should write it, for the tests: what it does depends on the topics that a client asks for. */
import { z } from 'zod';
import type { FilterType } from '../../../src/proxy/filter.ts';

function hang(): never {
  while (true);
}

const schema = z.strictObject({
  atCheck: z.enum(['nothing', 'hang']).refine((fault) => fault === 'nothing' || hang()),
  atStart: z.enum(['nothing', 'hang']),
  version: z.number(),
});

/** Behind an `await`, in a regular expression; by memory; by the process. */
const FAULTS: Record<string, () => unknown> = {
  async 'hang-later'() {
    await new Promise((resolve) => setTimeout(resolve, 10));
    hang();
  },
  'hang-expression': () => /^(a+)+$/.test(`${'a'.repeat(60)}b`),
  memory() {
    const all: object[] = [];
    while (true) all.push([all.length]);
  },
  exit: () => process.exit(1),
  throw: () =>
    void setTimeout(() => {
      throw new Error('nobody catches this');
    }, 10),
};

export const filter: FilterType<z.output<typeof schema>> = {
  config: schema,
  create({ atStart }) {
    if (atStart === 'hang') hang();
    return {
      connect: () => ({
        onRequest: {
          async Metadata(request) {
            for (const { name } of request.topics ?? []) await FAULTS[name ?? '']?.();
            return undefined;
          },
        },
      }),
    };
  },
};
