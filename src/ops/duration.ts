import { z } from 'zod';

const UNITS_MS: Record<string, number> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  μs: 0.001,
  ns: 1e-6,
};

/** A Go duration such as `1m30s`, as milliseconds. */
export const duration = z
  .string()
  .regex(/^(\d+(\.\d+)?(h|ms|m|s|us|μs|ns))+$/, 'must be a duration such as 30s, 1m30s or 500ms')
  .transform((text) =>
    [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|μs|ns)/g)].reduce(
      (total, [, amount, unit]) => total + Number(amount) * UNITS_MS[unit!]!,
      0,
    ),
  );
