import { z } from 'zod';
import { secret, serviceUrl, tls } from '../http/settings.ts';

const credentials = z.union(
  [
    z.strictObject({ serviceAccountKey: secret }),
    z.strictObject({
      metadata: z.strictObject({
        metadataEndpoint: serviceUrl.prefault('http://metadata.google.internal/'),
      }),
    }),
  ],
  'must be a serviceAccountKey or metadata',
);

/** Google's KMS; the original has none. */
export const gcpSchema = z.strictObject({
  keyRing: z
    .string()
    .regex(
      /^projects\/[a-z0-9:.-]+\/locations\/[a-z0-9-]+\/keyRings\/[\w-]+$/,
      'must be a key ring such as projects/P/locations/L/keyRings/R',
    ),
  endpointUrl: serviceUrl.prefault('https://cloudkms.googleapis.com/'),
  credentials,
  tls: tls.optional(),
});
export type GcpConfig = z.output<typeof gcpSchema>;
