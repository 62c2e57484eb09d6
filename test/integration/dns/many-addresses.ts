/** Runs in a network namespace of its own: one host with several IPv6 addresses, and another. Prints which of them were answered over TCP, as JSON. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { run } from '../../../src/store/embedded/process.ts';
import { closed, collect, framed } from '../../support/dns/stream.ts';
import { question } from '../../support/dns/testing.ts';
import { startOurs } from './server.ts';

const HOSTS = ['fd00:1::1', 'fd00:1::2', 'fd00:1::3', 'fd00:1::4', 'fd00:2::1'];

async function ip(...args: string[]): Promise<void> {
  const { code, stderr } = await run('ip', args);
  if (code !== 0) throw new Error(stderr);
}

await ip('link', 'set', 'lo', 'up');
for (const host of HOSTS) await ip('address', 'add', `${host}/128`, 'dev', 'lo', 'nodad');
const server = await startOurs({
  listen: ['[::1]:0'],
  zones: [{ name: 'example.test' }],
  tcp: { maxConnectionsPerClient: 2 },
});
const answered: string[] = [];
for (const localAddress of HOSTS) {
  const socket = connect({ port: server.port, host: '::1', localAddress });
  const answers = collect(socket);
  const end = closed(socket);
  socket.write(framed(question('example.test', 'SOA')));
  await Promise.race([once(socket, 'data'), end]);
  if (answers.length > 0) answered.push(localAddress);
}
console.log(JSON.stringify(answered));
process.exit(0);
