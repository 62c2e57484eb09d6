import { z } from 'zod';
import { duration } from '../../filter.ts';

/** Whose use is counted together. */
export const SUBJECTS = ['principal', 'clientId', 'virtualCluster'] as const;
export type Subject = (typeof SUBJECTS)[number];

/** What is counted; each is a field of a quota, as so much a second. */
export const UNITS = ['produceBytes', 'fetchBytes', 'requests'] as const;
export type Unit = (typeof UNITS)[number];

const rate = z.number().positive().max(1e12).optional();

const quota = z
  .strictObject({
    per: z.enum(SUBJECTS),
    name: z.string().min(1).max(256).optional(),
    produceBytes: rate,
    fetchBytes: rate,
    requests: rate,
  })
  .refine((each) => UNITS.some((unit) => each[unit] !== undefined), {
    message: `has to say one of ${UNITS.join(', ')}`,
  })
  .refine(({ per, name }) => per !== 'virtualCluster' || name === undefined, {
    path: ['name'],
    message: 'is not for a virtual cluster: the filter is in the list of just those that it is for',
  });

export type Quota = z.output<typeof quota>;

const keyOf = ({ per, name }: Quota) => JSON.stringify([per, name]);

export const quotaSchema = z.strictObject({
  quotas: z
    .array(quota)
    .min(1)
    .max(1000)
    .refine((all) => new Set(all.map(keyOf)).size === all.length, {
      message: 'has two of the same "per" and name',
    }),
  /** What is used beyond a quota is waited for as long as this at most. Clients give up after 30 s. */
  maxThrottle: duration.refine((ms) => ms > 0 && ms <= 60_000, 'must be at most 1m').default(15_000),
});

export type QuotaConfig = z.output<typeof quotaSchema>;
