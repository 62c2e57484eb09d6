/** What is needed of a Kubernetes Secret; values are base64, as the API has them. */
export interface SecretView {
  data?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

/** What a Secret is to contain. */
export interface SecretContent {
  data: Record<string, string>;
  annotations: Record<string, string>;
}

/** The text of a Secret's key. */
export function textOf(secret: SecretView | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** Values as the API wants them. */
export function encoded(values: Readonly<Record<string, string | Buffer>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]),
  );
}
