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

/** The text of a Secret's key, which may be any word: also one that every object of JavaScript has. */
export function textOf({ data = {} }: SecretView = {}, key: string): string | undefined {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}

/** Values as the API wants them. */
export function encoded(values: Readonly<Record<string, string | Buffer>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value as string).toString('base64')]),
  );
}
