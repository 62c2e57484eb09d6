import { z } from 'zod';
import { duration } from '../../filter.ts';
import type { FilterType } from '../../filter.ts';

/** What a timer can wait, 24 days; it would take more for no time at all. */
const LONGEST_MS = 0x7fff_ffff;

const schema = z.strictObject({
  maxAge: duration.refine((ms) => ms > 0, 'must be longer than nothing'),
  jitter: duration.optional(),
});

/**
 * Closes connections of a certain age, between two requests, so that clients spread over proxies that came later.
 * The jitter (up to so much less) keeps those that were opened together from closing together.
 */
export const connectionExpiry: FilterType<z.output<typeof schema>> = {
  config: schema,
  create: ({ maxAge, jitter = 0 }) => ({
    connect(context) {
      const ageMs = Math.max(1, maxAge - Math.random() * Math.min(jitter, maxAge));
      const timer = setTimeout(
        () => context.closeSoon('the connection has reached its age'),
        Math.min(ageMs, LONGEST_MS),
      );
      timer.unref();
      return { onClose: () => clearTimeout(timer) };
    },
  }),
};
