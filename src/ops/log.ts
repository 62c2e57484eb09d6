import { pino } from 'pino';

/** A logger: a constant message and the particulars as fields, never interpolated. */
export type Log = pino.Logger;

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields that may carry a secret are cut out wherever they appear, whoever logs them. */
const SECRET_FIELDS = [
  'password',
  'token',
  'secret',
  'key',
  'authorization',
  'kubeconfig',
  'data',
  'stringData',
];

/** Makes the process's logger. It writes JSON lines to stderr: stdout is for data. */
export function createLog(level: LogLevel = 'info', bindings: Record<string, unknown> = {}): Log {
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  return pino(
    {
      level,
      base: bindings,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '(secret)' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
