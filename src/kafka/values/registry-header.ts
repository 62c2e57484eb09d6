/** The bytes in front of a value that name its schema in a registry, as Confluent's serializers and Apicurio's write them. */

const MAGIC = 0;

/** How many bytes the number of the schema has, which follows a zero. */
export type IdBytes = 4 | 8;

export interface RegistryHeader {
  id: number;
  /** Where the value begins. */
  end: number;
}

/** Undefined if there is none. */
export function registryHeaderOf(bytes: Buffer, idBytes: IdBytes): RegistryHeader | undefined {
  const end = 1 + idBytes;
  if (bytes.length < end || bytes[0] !== MAGIC) return undefined;
  return { id: idBytes === 4 ? bytes.readUInt32BE(1) : Number(bytes.readBigUInt64BE(1)), end };
}
