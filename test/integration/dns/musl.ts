/** A small program that resolves names with musl's resolver, which is that of Alpine's containers. */
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import type { DnsTools } from './tools.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

/** Compiles lookup.c with the system's compiler, but against musl's headers and library. */
export async function ensureMuslProgram({ root }: DnsTools): Promise<string> {
  const program = join(workspace('musl'), 'lookup');
  const headers = join(root, 'usr/include', `${ARCHITECTURE}-linux-musl`);
  const library = join(root, 'usr/lib', `${ARCHITECTURE}-linux-musl`);
  const source = join(import.meta.dirname, 'lookup.c');
  const start = ['crt1.o', 'crti.o'].map((file) => join(library, file));
  const libgcc = (await run('gcc', ['-print-libgcc-file-name'])).stdout.trim();
  const args = ['-O1', '-static', '-nostdinc', '-nostdlib', '-fno-pie', '-no-pie', '-isystem', headers];
  const end = [join(library, 'libc.a'), libgcc, join(library, 'crtn.o')];
  const { code, stderr } = await run('gcc', [...args, ...start, source, ...end, '-o', program]);
  if (code !== 0) throw new Error(`gcc with musl: ${stderr}`);
  return program;
}
