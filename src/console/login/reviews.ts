/** The questions to the API server. */
import type { Client } from '../../kube/http/client.ts';
import type { AskAccess } from './access-reviews.ts';
import type { AskToken, Identity } from './token-reviews.ts';

const TIMEOUT_MS = 15_000;

export function askTokenOf(client: () => Client): AskToken {
  return async (token) => {
    const apiVersion = 'authentication.k8s.io/v1';
    const review = { apiVersion, kind: 'TokenReview', spec: { token } };
    const { status } = (await client().post(`/apis/${apiVersion}/tokenreviews`, review, {
      timeoutMs: TIMEOUT_MS,
    })) as { status?: TokenStatus };
    return status?.authenticated === true ? identityOf(status.user) : undefined;
  };
}

interface TokenStatus {
  authenticated?: boolean;
  user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
}

function identityOf({ username, uid, groups = [], extra }: NonNullable<TokenStatus['user']> = {}):
  | Identity
  | undefined {
  return username === undefined || username === '' ? undefined : { user: username, uid, groups, extra };
}

export function askAccessOf(client: () => Client): AskAccess {
  return async ({ user, uid, groups, extra }, { group, resource, namespace }) => {
    const apiVersion = 'authorization.k8s.io/v1';
    const resourceAttributes = { verb: 'list', group, resource, namespace };
    const review = {
      apiVersion,
      kind: 'SubjectAccessReview',
      spec: { user, uid, groups, extra, resourceAttributes },
    };
    const { status } = (await client().post(`/apis/${apiVersion}/subjectaccessreviews`, review, {
      timeoutMs: TIMEOUT_MS,
    })) as { status?: { allowed?: boolean } };
    return status?.allowed === true;
  };
}
