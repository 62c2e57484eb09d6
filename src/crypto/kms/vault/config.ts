import { z } from 'zod';
import { secret, serviceUrl, tls } from '../http/settings.ts';

/** Where Kubernetes puts the token of a pod, unless it is told otherwise. */
const POD_TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** The path of an auth method or a namespace: words between slashes, so that it leads nowhere else. */
const path = z
  .string()
  .max(256)
  .regex(/^[\w-]+(\/[\w-]+)*$/, 'must be a path such as team/kubernetes');
const name = z.string().min(1).max(256);

const auth = z.union(
  [
    z.strictObject({
      kubernetes: z.strictObject({
        role: name,
        mount: path.default('kubernetes'),
        tokenFile: z.string().min(1).default(POD_TOKEN_FILE),
      }),
    }),
    z.strictObject({
      appRole: z.strictObject({ roleId: name, secretId: secret, mount: path.default('approle') }),
    }),
    z.strictObject({ jwt: z.strictObject({ role: name, jwt: secret, mount: path.default('jwt') }) }),
  ],
  'must be one of kubernetes, appRole and jwt',
);

/** The original's configuration, with ways to log in besides a token, and namespaces. */
export const vaultSchema = z
  .strictObject({
    vaultTransitEngineUrl: serviceUrl.refine(
      ({ pathname }) => /\/v1\/./.test(pathname),
      'must have the path of a transit engine, such as https://vault.example.com:8200/v1/transit',
    ),
    vaultToken: secret.optional(),
    auth: auth.optional(),
    namespace: path.optional(),
    tls: tls.optional(),
  })
  .refine(({ vaultToken, auth: login }) => (vaultToken === undefined) !== (login === undefined), {
    message: 'must be there if auth is not, and only then',
    path: ['vaultToken'],
  });
export type VaultConfig = z.output<typeof vaultSchema>;
