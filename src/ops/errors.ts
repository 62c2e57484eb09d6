/**
 * Every error a user can meet, in one closed table. A code is permanent: it is searched for, and documented in
 * docs/reference/codes.md (generated from here, and from `codes/`). `message` says what is wrong, `hint` what to do about it.
 */
export const ERRORS = {
  CONFIG_INVALID: {
    message: 'the configuration is not valid',
    hint: 'Each line names the key and what it must be; correct the file or the environment variable.',
  },
  CONFIG_UNREADABLE: {
    message: 'the configuration file cannot be read',
    hint: 'Check the path and its permissions.',
  },
  USAGE: {
    message: 'wrong usage',
    hint: 'Run the command with --help.',
  },
  TOOL_MISSING: {
    message: 'a program that this needs is not installed',
    hint: 'Install it as the message says, then run the same command again.',
  },
  TOOL_FAILED: {
    message: 'a program that this needs has failed',
    hint: 'Read what it said. What is fetched the first time needs a network; try again when there is one.',
  },
  KUBECONFIG_INVALID: {
    message: 'the kubeconfig cannot be used',
    hint: 'Compare with `kubectl config view`; the message names the entry.',
  },
  CLUSTER_UNREACHABLE: {
    message: 'the Kubernetes API server cannot be reached',
    hint: 'Check the server address, the network, and `kubectl version` with the same kubeconfig.',
  },
  CLUSTER_UNKNOWN: {
    message: 'there is no cluster of this name',
    hint: 'Join it (`isthmus join`, docs/join.md), or correct the name; a name that is not known never means the local cluster.',
  },
  CLUSTER_REFUSED: {
    message: 'the Kubernetes API server refused the request',
    hint: 'Read the reason; for "forbidden", grant the Role that `isthmus install` or `isthmus dns manifests` prints.',
  },
  CANNOT_MOVE: {
    message: 'it cannot be moved',
    hint: 'Nothing is moved; what stands in the way is said above. See docs/stretch.md, "Moving a pool".',
  },
  CANNOT_ADOPT: {
    message: 'it cannot be taken over',
    hint: 'Nothing is changed; what stands in the way is said above. See docs/stretch.md, "A new central cluster".',
  },
  CONSOLE_UNREACHABLE: {
    message: 'the console cannot be reached',
    hint: 'Start `isthmus up`: it prints the address of its console, to be given with --console.',
  },
  KAFKA_UNREACHABLE: {
    message: 'the Kafka broker cannot be reached',
    hint: 'Check the address, the network, and whether the listener expects TLS.',
  },
  KAFKA_REFUSED: {
    message: 'the Kafka broker refused',
    hint: 'Read the reason; for a failed authentication, check mechanism, user and password.',
  },
  RESOURCE_INVALID: {
    message: 'a resource is not valid',
    hint: 'The message names the file, the line and the field; `isthmus analyze -f` checks without applying.',
  },
  LISTEN_FAILED: {
    message: 'an address cannot be listened on',
    hint: 'See whether another program has the port (`ss -lntup`); ports below 1024 need the right to bind them.',
  },
} as const satisfies Record<string, { message: string; hint: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** An error with a code from the table and the particulars of this case. */
export class IsthmusError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, particulars: string, options?: { cause?: unknown }) {
    super(`${ERRORS[code].message}: ${particulars}`, options);
    this.name = 'IsthmusError';
    this.code = code;
    this.hint = ERRORS[code].hint;
  }
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
