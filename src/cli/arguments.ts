import { InvalidArgumentError } from 'commander';

/** Reads a port number; anything else is a usage error. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is 0 to 65535.');
  return port;
}

/** Reads a whole number of at least one. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a whole number of at least 1.');
  return count;
}
