import { errorOf } from '../errors.ts';
import type { KafkaError } from '../errors.ts';

/** An error code of the protocol with the broker's own words, or the code's name where it has none. */
export interface Fault extends KafkaError {
  message: string;
}

/** What a call found, or the code with which Kafka refused it. */
export type Answer<T> = { value: T; error?: undefined } | { value?: undefined; error: Fault };

/** What became of one item of a request. */
export interface ItemResult {
  error?: Fault | undefined;
}

/** Undefined for code 0. */
export function faultOf(code: number, message?: string | null): Fault | undefined {
  if (code === 0) return undefined;
  const error = errorOf(code);
  return { ...error, message: message ?? error.name };
}

/** The value, unless the code says that there is none. */
export function answerOf<T>(
  response: { errorCode: number; errorMessage?: string | null },
  value: () => T,
): Answer<T> {
  const error = faultOf(response.errorCode, response.errorMessage);
  return error ? { error } : { value: value() };
}

/** The answer that is made of another one's value; a refusal stays as it is. */
export function mapAnswer<T, R>(answer: Answer<T>, make: (value: T) => Answer<R>): Answer<R> {
  return answer.error ? answer : make(answer.value);
}

/** The value, where a refusal leaves nothing to go on with. */
export function required<T>({ value, error }: Answer<T>): T {
  if (error) throw new Error(`Kafka: ${error.message}`);
  return value;
}
