/**
 * `npm run bench -- NAME [PART…] [--json] [--quick]`: runs one benchmark side by side with its peers; of `hostile` only the attacks that are named.
 * A benchmark is a file beside this one that exports `run`. Ratios compare us with a peer; below 1 we are better.
 */
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/ops/errors.ts';

export interface BenchOptions {
  /** Rougher figures within three minutes. */
  quick: boolean;
  /** Only these parts of it, for benchmarks that have parts; all, if there are none. */
  parts: readonly string[];
  log: (line: string) => void;
}

export interface BenchResult {
  ratios: Record<string, number>;
  figures: Record<string, unknown>;
}

interface Bench {
  run(options: BenchOptions): Promise<BenchResult>;
}

const NAMES = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length));

function print({ ratios, figures }: BenchResult): void {
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(50)} ${JSON.stringify(value)}`);
  console.log('\nratios (ours to theirs; lower is better)');
  for (const [name, value] of Object.entries(ratios)) console.log(`${name.padEnd(50)} ${value.toFixed(2)}`);
}

async function main(): Promise<number> {
  const options = { json: { type: 'boolean' }, quick: { type: 'boolean' } } as const;
  const { positionals, values } = parseArgs({ options, allowPositionals: true });
  const [name, ...parts] = positionals;
  if (name === undefined || !NAMES.includes(name)) {
    console.error(
      `usage: npm run bench -- NAME [PART…] [--json] [--quick], where NAME is one of ${NAMES.join(', ')}`,
    );
    return 2;
  }
  const bench = (await import(`./${name}.ts`)) as Bench;
  const started = Date.now();
  const log = (line: string) =>
    console.error(`[${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s] ${line}`);
  const result = await bench.run({ quick: values.quick ?? false, parts, log });
  if (values.json) console.log(JSON.stringify(result));
  else print(result);
  return 0;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : messageOf(error));
    process.exitCode = 1;
  },
);
