import type { Security } from '../kafka/security.ts';

/** Text only, since some clients are command lines: no tabs, no line ends, not empty. */
export interface TestRecord {
  key: string | null;
  value: string | null;
}

export interface Target {
  bootstrap: string;
  topic: string;
  security?: Security;
  timeoutMs?: number;
  /** Names that this machine's resolver does not know; for the Java client alone. */
  hostsFile?: string;
}

export interface ProduceRequest extends Target {
  records: readonly TestRecord[];
}

export interface ConsumeRequest extends Target {
  /** Reading ends after so many records, or with an error when the time is up. */
  count: number;
  /** Consumer group; a new one by default. */
  group?: string;
}

/** A client library: it writes with acks=all, reads from the beginning, and throws with what the library said. */
export interface Client {
  produce(request: ProduceRequest): Promise<void>;
  consume(request: ConsumeRequest): Promise<TestRecord[]>;
}

/** Long: several Java programs may start on the same core at the same time. */
export const DEFAULT_TIMEOUT_MS = 120_000;
