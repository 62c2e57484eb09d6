/** A real browser for tests of pages: Debian's Chromium, driven over its own protocol. */
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { ensureChromium } from './install/chromium.ts';

export interface TestBrowser extends AsyncDisposable {
  /** A page of this width, which must not complain of anything. */
  page(options?: { width?: number; height?: number; dark?: boolean }): Promise<TestPage>;
}

export interface TestPage extends AsyncDisposable {
  page: Page;
  /** What the page has complained of: errors of scripts, refusals of its own policy, requests to anywhere else. */
  complaints: string[];
}

/** No test waits longer for a page: the machine may be several times slower than any other. */
const TIMEOUT_MS = 60_000;

export async function startBrowser(): Promise<TestBrowser> {
  const { executable, environment } = await ensureChromium();
  const browser: Browser = await chromium.launch({
    executablePath: executable,
    env: { ...process.env, ...environment },
    // Its sandbox needs rights that a container does not give; the pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: TIMEOUT_MS,
  });
  return {
    async page({ width = 1280, height = 900, dark = false } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: dark ? 'dark' : 'light',
      });
      context.setDefaultTimeout(TIMEOUT_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('request', (request) => {
        const { hostname, protocol } = new URL(request.url());
        if (protocol.startsWith('http') && hostname !== '127.0.0.1') complaints.push(`asks ${request.url()}`);
      });
      return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}
