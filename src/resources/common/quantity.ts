/** Amounts of CPU and memory, as Kubernetes writes them. */
import { z } from 'zod';
import { asStructural } from '../schema.ts';

const DECIMAL = String.raw`([0-9]+(\.[0-9]*)?|\.[0-9]+)`;
const QUANTITY = new RegExp(`^[+]?${DECIMAL}([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$`);

const error = 'must be an amount such as 2, 250m or 64Mi';

/** An amount: `2`, `250m`, `64Mi`. */
export const quantity = asStructural(
  z.union([z.int().min(0), z.string().max(64).regex(QUANTITY, { error })], { error }),
  {
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    maxLength: 64,
    pattern: QUANTITY.source,
  },
);

const amounts = z.record(z.string(), quantity);

/** What a container asks for and may use. */
export const resourceRequirements = z
  .object({
    requests: amounts.describe('What a pod is promised, e.g. `cpu: 250m`, `memory: 64Mi`.').exactOptional(),
    limits: amounts.describe('What a pod may use at most.').exactOptional(),
  })
  .describe('CPU and memory of each pod.');

const FACTORS: Record<string, number> = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 }; // prettier-ignore

const SMALL: Record<string, number> = { n: 1e-9, u: 1e-6, m: 1e-3, E: 1e18, Ei: 2 ** 60 };

/** Any amount as a number: cores, bytes, or whatever it is of. Undefined for what is none. */
export function amountOf(quantity: string | number): number | undefined {
  const [, number, unit = ''] = /^\+?(\d+\.?\d*|\.\d+)(\D.*)?$/.exec(String(quantity)) ?? [];
  const factor =
    FACTORS[unit] ?? SMALL[unit] ?? (/^[eE][+-]?\d+$/.test(unit) ? Number(`1${unit}`) : undefined);
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** The bytes of an amount of memory or disk, if it is one. */
export function bytesOf(quantity: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kMGTP]i?|Ki)?$/.exec(quantity) ?? [];
  const factor = FACTORS[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
