import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tellFigures } from '../../support/figures.ts';
import { type BundledWorker, bundleWorker } from '../support/bundle-worker.ts';

const WORKER = "export * from './functions/cloudflare/index.ts';";
const MIGRATES = "export { migrate } from './src/adapters/postgres/migrate.ts';";
const LIMIT_BYTES = 1_500_000;
/** The free plan takes 3 MB; what is uploaded is loaded by every new isolate. */
const LIMIT_GZIPPED_BYTES = 500_000;
const UNWANTED =
  /migrat(e|ions)[.]|swagger-ui-dist|dashboard|@aws-sdk|node_modules\/pg\/|pglite|functions\/aws|src\/cli|adapters\/node-server/;

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

  it('is small', () => {
    const gzipped = gzipSync(worker.text).length;
    tellFigures('worker', { of: 'Stepwell alone, minified', bytes: worker.text.length, gzipped });
    expect(worker.text.length).toBeLessThan(LIMIT_BYTES);
    expect(gzipped).toBeLessThan(LIMIT_GZIPPED_BYTES);
  });

  it('carries no migrations, no dashboard, no other database and nothing of the other cloud', () => {
    expect(worker.modules).toContain('functions/cloudflare/queue.ts');
    expect(worker.modules.filter((path) => UNWANTED.test(path))).toEqual([]);
  });

  it('is told from one that migrates', async () => {
    const migrating = await bundleWorker([WORKER, MIGRATES].join('\n'));
    expect(migrating.modules.filter((path) => UNWANTED.test(path)).toSorted()).toEqual([
      'src/adapters/postgres/migrate.ts',
      'src/adapters/postgres/migrations.generated.ts',
    ]);
  });
});
