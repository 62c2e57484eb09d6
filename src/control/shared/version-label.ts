/**
 * Which version of Isthmus a workload runs, as far as whoever made it knew: of an image a cluster knows the name, and a tag is moved
 * easily. On the workload and on its pods, never in a selector, because it changes.
 */
export const VERSION_LABEL = 'app.kubernetes.io/version';

export const versionLabels = (version: string | undefined): Record<string, string> =>
  version === undefined ? {} : { [VERSION_LABEL]: version };
