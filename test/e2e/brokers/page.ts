/** A page of the documentation as somebody in a hurry uses it: the first file that it shows, and the commands below it. */
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { IMAGES } from '../../support/images/images.ts';
import { ensureKubernetes } from '../../support/install/kubernetes.ts';
import { workspace } from '../../support/workspace.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'src/main.ts');

interface Page {
  /** `events.yaml`. */
  resources: string;
  commands: string[];
}

export async function readPage(name: string): Promise<Page> {
  const text = await readFile(join(ROOT, 'docs', name), 'utf8');
  const first = (fence: string) =>
    new RegExp(`^\`\`\`${fence}\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1] ?? assert.fail(`no ${fence}`);
  return { resources: first('yaml resources'), commands: first('sh').trimEnd().split('\n') };
}

/** The arguments that the page gives to external-dns, one a line. */
export async function readExternalDnsArgs(name: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs', name), 'utf8');
  const block = /^```text\n(--source=crd\n.*?)^```$/ms.exec(text)?.[1];
  return (block ?? assert.fail(`${name} has no arguments for external-dns`)).trimEnd().split('\n');
}

/** Where commands are typed: with which clusters, and on which machine. */
export interface Desk {
  kubeconfig: string;
  /** This machine's if left out. */
  run?: typeof run;
}

/** A folder with the file, and programs by the names that the commands call them. */
async function prepare({ kubeconfig }: Desk, { resources }: Page): Promise<{ folder: string; path: string }> {
  const folder = workspace('page');
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(join(folder, 'events.yaml'), resources);
  const { kubectl } = await ensureKubernetes(['kubectl']);
  const program = async (name: string, command: string) => {
    await writeFile(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    await chmod(join(bin, name), 0o755);
  };
  await program('isthmus', `env 'KUBECONFIG=${kubeconfig}' '${process.execPath}' '${MAIN}'`);
  await program('kubectl', `'${kubectl}' '--kubeconfig=${kubeconfig}' '--cache-dir=${folder}/cache'`);
  return { folder, path: bin };
}

/** Runs them one after the other, with our image and on any machine's time; returns what each printed. */
export async function followPage(desk: Desk, page: Page): Promise<string[]> {
  const { folder, path } = await prepare(desk, page);
  const printed: string[] = [];
  for (const command of page.commands) {
    const here = command
      .replace('registry.example.com/isthmus:0.1.0', IMAGES.isthmus)
      .replace(/--timeout=\w+/, '--timeout=20m');
    const script = `set -e; cd '${folder}'; PATH='${path}':$PATH; ${here}`;
    const { code, stdout, stderr } = await (desk.run ?? run)('sh', ['-c', script], { timeoutMs: 1_300_000 });
    assert.equal(code, 0, `${command}: ${stderr}\n${stdout}`);
    printed.push(stdout);
  }
  return printed;
}
