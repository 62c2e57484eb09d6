/** The types of install.mjs, which is JavaScript because it runs before anything else can. */

export const cache: string;

export interface NodePackage {
  name: string;
  version: string;
  integrity: string;
  /** Its path below the folder it is installed in. */
  binary: string;
}

export function nodePackage(platform?: string, arch?: string): NodePackage;
export function pinnedNode(platform?: string, arch?: string): string;

export interface Lock {
  packages: Record<string, { version?: string; integrity?: string; [field: string]: unknown }>;
}

export function lockProblems(packageJson: object, lock: Lock, installed?: Lock): string[];
export function ensurePackages(): void;
