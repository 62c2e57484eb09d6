/**
 * Runs in a network and mount namespace of its own: our server on port 53 of this loopback, /etc/resolv.conf of our
 * own, and the C libraries' resolvers as clients. Prints what they found, as JSON.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { startOurs } from './server.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const [program, folder] = process.argv.slice(2) as [string, string];

async function must(command: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, args);
  if (code !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
}

async function replaceFile(path: string, text: string): Promise<void> {
  const file = join(folder, path.replaceAll('/', '_'));
  await writeFile(file, text);
  await must('mount', '--bind', file, path);
}

await must('ip', 'link', 'set', 'lo', 'up');
await replaceFile(
  '/etc/resolv.conf',
  'nameserver 127.0.0.1\nsearch example.test\noptions timeout:5 attempts:5\n',
);
await replaceFile('/etc/nsswitch.conf', 'hosts: dns\n');

const many: DnsRecord[] = Array.from({ length: 60 }, (_, i) => ({
  name: 'many.example.test',
  type: 'A',
  data: `10.0.1.${i}`,
}));
const server = await startOurs({
  listen: ['127.0.0.1:53'],
  zones: [{ name: 'example.test' }],
  records: [
    { name: 'a.example.test', type: 'A', data: '10.0.0.1' },
    { name: 'a.example.test', type: 'AAAA', data: 'fd00::1' },
    { name: 'www.example.test', type: 'CNAME', data: 'a.example.test' },
    ...many,
  ],
});
const seen: Record<string, string> = {};
for (const name of ['a.example.test', 'www.example.test', 'a', 'no.example.test', 'many.example.test']) {
  const { stdout } = await run('getent', ['ahosts', name]);
  seen[`glibc ${name}`] = stdout
    .split('\n')
    .filter((line) => line.includes('STREAM'))
    .join('\n');
  seen[`musl ${name}`] = await must(program, name);
}
await server.close();
console.log(JSON.stringify(seen));
