import type { KmsSetting } from '../../kms.ts';
import { createHttpClient } from '../http/client.ts';
import { createCredentialSource } from '../http/credential.ts';
import type { CredentialSource } from '../http/credential.ts';
import { accessTokenIn, FORM } from '../http/oauth.ts';
import { filesIn, readBounded, readSecret, requireIdentity } from '../http/settings.ts';
import type { AzureConfig, ClientCredentials, ManagedIdentity, WorkloadIdentity } from './config.ts';

/** A source of access tokens, and what has to be closed with it. */
export interface AzureIdentity {
  source: CredentialSource<string>;
  close(): void;
}

const ENTRA = 'Entra';
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const tokenUrl = (endpoint: URL, tenantId: string) =>
  new URL(`${endpoint.href.replace(/\/+$/, '')}/${tenantId}/oauth2/v2.0/token`);

/** Who a configuration says we are. Throws where that is the process's own identity and may not be used. */
export function azureIdentity(
  config: AzureConfig,
  vault: URL,
  setting: KmsSetting,
  env = process.env,
): AzureIdentity {
  const { oauth2ClientCredentials, managedIdentityCredentials, workloadIdentityCredentials } = config;
  if (oauth2ClientCredentials) return clientCredentials(oauth2ClientCredentials, setting);
  if (managedIdentityCredentials) return managedIdentity(managedIdentityCredentials, vault, setting);
  return workloadIdentity(workloadIdentityCredentials!, vault, setting, env);
}

function clientCredentials(config: ClientCredentials, setting: KmsSetting): AzureIdentity {
  const { outbound, now = Date.now, timeoutMs } = setting;
  const url = tokenUrl(config.oauthEndpoint, config.tenantId);
  for (const file of filesIn(config.clientId, config.clientSecret, config.tls))
    requireIdentity(outbound, `the file ${file}`, [url]);
  const http = createHttpClient({ outbound, tls: config.tls, timeoutMs });
  const load = async () => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: await readSecret(config.clientId),
      client_secret: await readSecret(config.clientSecret),
      scope: config.scope,
    });
    return accessTokenIn(
      await http.send({ method: 'POST', url, headers: FORM, body: form.toString() }),
      ENTRA,
    );
  };
  return { source: createCredentialSource<string>(load, now), close: () => http.close() };
}

/** The identity of the machine, by its metadata service. */
function managedIdentity(config: ManagedIdentity, vault: URL, setting: KmsSetting): AzureIdentity {
  const { outbound, now = Date.now, timeoutMs } = setting;
  requireIdentity(outbound, 'the identity of this machine', [vault]);
  const http = createHttpClient({ outbound, purpose: 'metadata', timeoutMs });
  const url = new URL('metadata/identity/oauth2/token', config.identityServiceEndpoint);
  url.search = new URLSearchParams({
    'api-version': '2018-02-01',
    resource: config.targetResource,
  }).toString();
  const load = async () =>
    accessTokenIn(
      await http.send({ method: 'GET', url, headers: { metadata: 'true' } }),
      'instance metadata',
    );
  return { source: createCredentialSource<string>(load, now), close: () => http.close() };
}

/** The identity that a token of the pod stands for. */
function workloadIdentity(
  config: WorkloadIdentity,
  vault: URL,
  { outbound, now = Date.now, timeoutMs }: KmsSetting,
  env: NodeJS.ProcessEnv,
): AzureIdentity {
  const tenantId = config.tenantId ?? env['AZURE_TENANT_ID'];
  const clientId = config.clientId ?? env['AZURE_CLIENT_ID'];
  const tokenFile = config.tokenFile ?? env['AZURE_FEDERATED_TOKEN_FILE'];
  if (tenantId === undefined || clientId === undefined || tokenFile === undefined)
    throw new Error(
      'workloadIdentityCredentials needs tenantId, clientId and tokenFile, here or in the environment',
    );
  const endpoint =
    config.oauthEndpoint ?? new URL(env['AZURE_AUTHORITY_HOST'] ?? 'https://login.microsoftonline.com/');
  const url = tokenUrl(endpoint, tenantId);
  requireIdentity(outbound, `the file ${tokenFile}`, [url, vault]);
  const http = createHttpClient({ outbound, timeoutMs });
  const load = async () => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_assertion_type: JWT_BEARER,
      client_assertion: await readBounded(tokenFile),
      scope: config.scope,
    });
    return accessTokenIn(
      await http.send({ method: 'POST', url, headers: FORM, body: form.toString() }),
      ENTRA,
    );
  };
  return { source: createCredentialSource<string>(load, now), close: () => http.close() };
}
