/** The command line in this process, with what it prints. */
import { runProgram } from '../../src/cli/program.ts';

export interface Said {
  code: number;
  out: string;
  err: string;
}

export async function isthmus(...args: string[]): Promise<Said> {
  const written = { out: '', err: '' };
  const code = await runProgram(args, {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    exitCode: 0,
  });
  return { code, ...written };
}
