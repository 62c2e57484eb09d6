import { IsthmusError, messageOf } from '../../ops/errors.ts';

/** The body of an answer that says what went wrong. */
export interface StatusBody {
  kind?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: { retryAfterSeconds?: number };
}

/** Reasons that are ours: the server gave no answer, or none that could be used. */
export type LocalReason =
  | 'Unreachable'
  | 'Timeout'
  | 'TooLarge'
  | 'Malformed'
  | 'KindNotServed'
  | 'NotOurs'
  | 'BeingDeleted';

/** A request to the API server that did not succeed. `status` is 0 when there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    reason: string,
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** An error of our own making: nothing was answered, or nothing usable. */
export function localError(reason: LocalReason, message: string, cause?: unknown): ApiError {
  return new ApiError(0, reason, message, { cause });
}

/** Makes an error of an answer with a status that is no success. */
export function apiErrorOf(status: number, body: string, retryAfter: string | undefined): ApiError {
  const parsed = statusBodyOf(body);
  const seconds = Number(retryAfter ?? parsed?.details?.retryAfterSeconds ?? Number.NaN);
  const retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined;
  const message = parsed?.message ?? (body.trim().slice(0, 200) || `HTTP status ${status}`);
  return new ApiError(status, parsed?.reason ?? `Status${status}`, message, { retryAfterMs });
}

function statusBodyOf(body: string): StatusBody | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined; // proxies and load balancers answer in HTML
  }
}

/** Whether something thrown is an answer with this status. */
export function hasStatus(thrown: unknown, status: number): thrown is ApiError {
  return thrown instanceof ApiError && thrown.status === status;
}

/** Whether there was no answer at all, so that the next request would most likely get none either. */
export function isUnanswered(thrown: unknown): thrown is ApiError {
  return thrown instanceof ApiError && (thrown.reason === 'Unreachable' || thrown.reason === 'Timeout');
}

/** The error to show a user who asked for something of a server directly. */
export function userErrorOf(thrown: unknown): IsthmusError {
  if (thrown instanceof IsthmusError) return thrown;
  const wasAnswered = thrown instanceof ApiError && (thrown.status > 0 || thrown.reason === 'KindNotServed');
  return new IsthmusError(wasAnswered ? 'CLUSTER_REFUSED' : 'CLUSTER_UNREACHABLE', messageOf(thrown), {
    cause: thrown,
  });
}
