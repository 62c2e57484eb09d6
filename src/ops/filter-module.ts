/** Filters of users' own, as configurations and resources name them: `module:` and the name of an npm package. */

const SEGMENT = '[a-z0-9][a-z0-9._-]*';

/** The name of an npm package, with its scope or without: never a path, a URL or a part of a package. */
export const PACKAGE_NAME = new RegExp(`^(?:@${SEGMENT}/)?${SEGMENT}$`);
export const MAX_PACKAGE_NAME = 214;

export const MODULE_PREFIX = 'module:';

/** The package that a filter's type names; undefined where it is one of ours. */
export function moduleOf(type: string): string | undefined {
  return type.startsWith(MODULE_PREFIX) ? type.slice(MODULE_PREFIX.length) : undefined;
}

/** A package that filters may come from, as an admin allows it. */
export interface FilterModule {
  name: string;
  /** The fields of its filters' config that may hold a secret; `*` stands for any one step. */
  secretFields?: readonly string[];
}

/** Names of fields and `*`, with dots between them. */
export const FIELD_PATTERN = /^[A-Za-z0-9_$*-]+(?:\.[A-Za-z0-9_$*-]+)*$/;

/** Whether one of the patterns is of the field at this path. */
export function isFieldOf(patterns: readonly string[], path: readonly PropertyKey[]): boolean {
  return patterns.some((pattern) => {
    const steps = pattern.split('.');
    return (
      steps.length === path.length && steps.every((step, at) => step === '*' || step === String(path[at]))
    );
  });
}
