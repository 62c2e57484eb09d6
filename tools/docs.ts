/** `npm run docs`: the documentation in a browser on this machine, with a search. Pages are read anew for each request. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { answer, readPages } from './docs/site.ts';

const root = join(import.meta.dirname, '..');

/** Links of the index are relative to its folder. */
const INDEX = '/docs/README.md';
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'",
};

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://docs');
  const query = pathname === '/search' ? (searchParams.get('q') ?? '') : null;
  const page = answer(readPages(root), pathname, query);
  const picture = /^\/docs\/pictures\/[\w-]+\.png$/.test(pathname) ? join(root, pathname) : undefined;
  if (picture !== undefined && existsSync(picture))
    response.writeHead(200, { ...HEADERS, 'content-type': 'image/png' }).end(readFileSync(picture));
  else if (pathname === '/') response.writeHead(302, { location: INDEX }).end();
  else if (page === undefined) response.writeHead(404, HEADERS).end('There is no such page.');
  else response.writeHead(200, HEADERS).end(page);
});
server.listen(Number(process.argv[2] ?? 9090), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`The documentation: http://127.0.0.1:${port}/\n`);
});
