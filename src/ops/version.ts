import { readFileSync } from 'node:fs';

/** This program's version. Read from package.json, which stands two folders up both in the sources and in what is built. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
