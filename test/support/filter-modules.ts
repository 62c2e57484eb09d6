/** Filters of users' own, for tests: packages that are installed nowhere, but found by their names all the same. */
import { registerHooks } from 'node:module';

/** Makes imports of these names lead to these URLs, in this process. */
export function provideModules(urls: ReadonlyMap<string, string>): void {
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}

/** The environment that does the same in a process that is started with it, and in all that it starts. */
export function environmentWith(urls: ReadonlyMap<string, string>): Record<string, string> {
  const program = `import { provideModules } from ${JSON.stringify(import.meta.url)};
    provideModules(new Map(${JSON.stringify([...urls])}));`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
