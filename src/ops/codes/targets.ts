/** Reasons about joined clusters. */
import type { CodeEntry } from './entry.ts';

export const TARGET_REASONS = {
  KubeconfigInvalid: {
    means: 'The Secret of a joined cluster holds no kubeconfig that can be used.',
    why: 'The entry `kubeconfig` is missing or cannot be read, or it names files or programs, which a Secret may not.',
    cure: 'Correct the Secret, or run `isthmus join` for that cluster again.',
  },
  UrlOverruled: {
    means: 'The environment gives another URL for a joined cluster than its kubeconfig.',
    why: '`ID.url` in STRIMZI_K8S_CLUSTERS counts for more than the server in the Secret `ID.secret`.',
    cure: 'Make them the same; the URL has to lead to the cluster that the credentials are of.',
  },
  ServerNotVerified: {
    means: 'Nobody checks that the API server of a joined cluster is the right one.',
    why: 'Its kubeconfig says `insecure-skip-tls-verify`, or `http:`.',
    cure: 'Put the authority of the server into `certificate-authority-data`; `isthmus join` does so.',
  },
  FullAdministrator: {
    means: 'The credentials for a joined cluster may do everything there.',
    why: 'They are those of an administrator. Who can read the Secret has that cluster.',
    cure: 'Run `isthmus join`, which makes an account with the rights that are used.',
  },
  RightsMissing: {
    means: 'The account in a joined cluster may not do something that is needed.',
    why: 'Its Role lacks rights, which the message lists; what does not need them works.',
    cure: 'Run `isthmus join` for that cluster again, or add the rights to the Role.',
  },
  CredentialExpired: {
    means: 'The credentials for a joined cluster have expired.',
    why: 'They were not renewed in time: the cluster could not be reached, or nothing renews them.',
    cure: 'Run `isthmus join` for that cluster again; nothing else is lost by that.',
  },
  CredentialExpires: {
    means: 'The credentials for a joined cluster expire soon.',
    why: 'Renewing them fails, or nothing renews them, as with a client certificate.',
    cure: 'Run `isthmus join` for that cluster again.',
  },
  CredentialNotRenewed: {
    means: 'The token for a joined cluster could not be renewed.',
    why: 'The cluster does not answer, or its account may not ask for tokens of its own; the message says which.',
    cure: 'Bring the cluster back, or run `isthmus join` for it again, before the token expires.',
  },
  ClockDiffers: {
    means: 'The clock of a joined cluster is more than a minute off.',
    why: 'Tokens and certificates count from a time, and those of another clock are not valid yet, or no longer.',
    cure: 'Have both clusters follow the same time (NTP).',
  },
} as const satisfies Record<string, CodeEntry>;
