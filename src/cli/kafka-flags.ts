import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { Credentials } from '../kafka/client.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Endpoint } from '../probe/endpoint.ts';

/** How a command gets to a Kafka listener: the same flags wherever one does. */
export interface KafkaFlags {
  tls?: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  saslMechanism?: Credentials['mechanism'];
  user?: string;
  passwordFile?: string;
}

export function withKafkaFlags(command: Command): Command {
  return command
    .option('--tls', 'the listener speaks TLS (implied by --ca and --cert)')
    .option('--ca <file>', 'whom to trust, PEM; the public authorities otherwise')
    .option('--cert <file>', 'a certificate of our own, PEM')
    .option('--key <file>', 'its key, PEM')
    .addOption(
      new Option('--sasl-mechanism <name>', 'log in').choices(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']),
    )
    .option('--user <name>', 'who logs in')
    .option('--password-file <file>', 'the password; - for standard input');
}

/** Reads `host:port,[::1]:port`. */
export function parseBootstrap(text: string): Endpoint[] {
  return text.split(',').map((one) => {
    const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(one.trim());
    const port = Number(match?.[3]);
    if (!match || port < 1 || port > 65_535)
      throw new InvalidArgumentError(`"${one}" is not host:port, as in kafka.example.com:9092.`);
    return { host: match[1] ?? match[2]!, port };
  });
}

export function tlsOf({ tls, ca, cert, key }: KafkaFlags): ConnectionOptions | undefined {
  if ((cert === undefined) !== (key === undefined))
    throw new IsthmusError('USAGE', '--cert and --key are given together');
  if (tls !== true && ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca !== undefined && { ca: fileOf('--ca', ca) }),
    ...(cert !== undefined && { cert: fileOf('--cert', cert), key: fileOf('--key', key!) }),
  };
}

export function saslOf({
  saslMechanism: mechanism,
  user,
  passwordFile,
}: KafkaFlags): Credentials | undefined {
  const given = [mechanism, user, passwordFile].filter((one) => one !== undefined).length;
  if (given === 0) return undefined;
  if (given < 3)
    throw new IsthmusError('USAGE', '--sasl-mechanism, --user and --password-file are given together');
  const password = fileOf('--password-file', passwordFile!).replace(/\r?\n$/, '');
  return { mechanism: mechanism!, username: user!, password };
}

export function fileOf(flag: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new IsthmusError('USAGE', `${flag}: ${messageOf(error)}`, { cause: error });
  }
}
