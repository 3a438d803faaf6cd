import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type BundledWorker, bundleWorker } from '../support/bundle-worker.ts';

const WORKER = "export * from './functions/cloudflare/index.ts';";
const KILO = 1000;

/** Each way in which a module of Node could get in, with a module that comes in no other way. */
const FAULTS: Readonly<Record<string, string>> = {
  crypto: "import { createHash } from 'node:crypto'; export const a = createHash;",
  buffer: "export { Buffer } from 'buffer';",
  os: "export const load = () => import('node:os');",
  fs: "export const b = require('fs');",
  'dns/promises': "export * from './src/adapters/http/outbound-client.ts';",
};

describe('the bundle of the Worker', () => {
  let worker: BundledWorker;

  it('imports no built-in module of Node', async () => {
    worker = await bundleWorker(WORKER);
    expect(worker.builtins).toEqual([]);
  });

  it('is told from one into which modules of Node were planted, whichever way', async () => {
    const planted = await bundleWorker([WORKER, ...Object.values(FAULTS)].join('\n'));
    expect(planted.builtins).toEqual(expect.arrayContaining(Object.keys(FAULTS)));
  });

  it('carries no migrations, and is small', () => {
    expect(/CREATE TABLE (IF NOT EXISTS )?stepwell/.test(worker.text)).toBe(false);
    expect(worker.text.length).toBeLessThan(1500 * KILO);
    expect(gzipSync(worker.text).length).toBeLessThan(500 * KILO);
  });
});
