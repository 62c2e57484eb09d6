/**
 * `npm run test:kms`: the contract of key services with real ones. It is not part of `npm test`: Vault takes some 12 minutes of
 * two cores to build, once. What is built is in the cache.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { ensureVault } from '../test/support/install/vault.ts';
import { runTestFiles } from './test-files.ts';
import { farewell } from './test-report.ts';

process.chdir(resolve(import.meta.dirname, '..'));
try {
  await ensureVault();
  const outcome = await runTestFiles(globSync('test/kms/*.test.ts').toSorted(), {
    concurrency: 1,
    live: true,
  });
  for (const line of farewell(outcome)) process.stdout.write(`${line}\n`);
  process.exitCode = outcome.green ? 0 : 1;
} catch (error) {
  process.stderr.write(`isthmus: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
