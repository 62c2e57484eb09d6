/**
 * `npm run test:kms` and `npm run test:cert-manager`: tests with real servers that take too long to build for `npm test`: Vault some 12
 * minutes of two cores, cert-manager five of one. What is built once is in the cache.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { ensureCertManager } from '../test/support/install/cert-manager.ts';
import { ensureVault } from '../test/support/install/vault.ts';
import { runTestFiles } from './test-files.ts';
import { farewell } from './test-report.ts';

/** By the folder that the tests are in. */
const SERVERS: Record<string, () => Promise<string>> = {
  kms: ensureVault,
  'cert-manager': ensureCertManager,
};

process.chdir(resolve(import.meta.dirname, '..'));
try {
  const [folder = ''] = process.argv.slice(2);
  const ensure = SERVERS[folder];
  if (!ensure) throw new Error(`say which: ${Object.keys(SERVERS).join(' or ')}`);
  await ensure();
  const outcome = await runTestFiles(globSync(`test/${folder}/*.test.ts`).toSorted(), {
    concurrency: 1,
    live: true,
  });
  for (const line of farewell(outcome)) process.stdout.write(`${line}\n`);
  process.exitCode = outcome.green ? 0 : 1;
} catch (error) {
  process.stderr.write(`isthmus: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
