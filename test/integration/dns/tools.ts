/** Other people's DNS programs: servers to compare with, clients to be asked by. Debian's, unpacked into the cache. */
import { debianEnvironment, ensureDebianTree } from '../../support/install/debian-tree.ts';
import { run } from '../../../src/store/embedded/process.ts';
import type { Finished } from '../../../src/store/embedded/process.ts';

const PACKAGES = ['knot', 'knot-dnsutils', 'bind9', 'bind9-dnsutils', 'dnsperf', 'musl-dev', 'musl-tools'];

export interface DnsTools {
  /** The folder that the packages are unpacked into. */
  root: string;
  env: Record<string, string>;
  /** Runs one of the programs to its end. */
  run(program: string, args: readonly string[], stdin?: string): Promise<Finished>;
}

/** The programs, fetched when they are not there yet. */
export async function ensureDnsTools(): Promise<DnsTools> {
  const root = await ensureDebianTree('dns', PACKAGES);
  const env = debianEnvironment(root);
  return { root, env, run: (program, args, stdin) => run(program, args, { env, stdin, timeoutMs: 60_000 }) };
}
