/** Kafka's files on disk: properties, and a formatted log directory. */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Properties = Record<string, string | number | boolean>;

/** A Java properties file. */
export function propertiesText(properties: Properties): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`)
    .join('');
}

/** A Kafka uuid: 16 bytes in URL-safe base64. One that starts with a dash would be read as an option. */
export function kafkaUuid(): string {
  const id = randomBytes(16).toString('base64url');
  return id.startsWith('-') ? kafkaUuid() : id;
}

/**
 * Formats a log directory as `kafka-storage format` does: an identity for the directory and the cluster's first records.
 * Done here because the records are the same every time, and starting Java to write them takes half as long as a broker.
 */
export async function writeStorage(
  directory: string,
  { checkpoint, nodeId, clusterId = kafkaUuid() }: { checkpoint: string; nodeId: number; clusterId?: string },
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const identity = { version: 1, 'cluster.id': clusterId, 'node.id': nodeId, 'directory.id': kafkaUuid() };
  await writeFile(join(directory, 'meta.properties'), propertiesText(identity));
  await copyFile(checkpoint, join(directory, 'bootstrap.checkpoint'));
}
