import { defineConfig } from 'vitest/config';
import { eagerImports } from './test/support/eager-imports.ts';

/** Areas whose tests need nothing but code: no process, file, port or database. */
const pureAreas = ['core', 'blocks', 'calendar', 'definition', 'expressions', 'network', 'run'].map(
  (area) => `test/${area}/**/*.test.ts`,
);

/**
 * Four projects, so that each kind of test gets what it needs and no more. `vitest run` runs them all, and
 * `vitest run test/<area>` what lies in one folder.
 *
 * - core: pure code, no IO: many files share one worker, which saves most of the start-up time.
 * - system: everything else, one fresh process per file, with a PostgreSQL server that starts when a file first asks.
 * - deploy: what is deployed on AWS, without AWS; its tools are installed once.
 * - gates: the planted faults and the house rules.
 */
export default defineConfig({
  plugins: [eagerImports()],
  test: {
    passWithNoTests: true,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { 'src/core/**/*.ts': { branches: 100 } },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'core',
          include: pureAreas,
          pool: 'threads',
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [...pureAreas, 'test/gates/**', 'test/deploy/**'],
          pool: 'forks',
          globalSetup: ['test/support/postgres-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'deploy',
          include: ['test/deploy/**/*.test.ts'],
          pool: 'forks',
          globalSetup: ['test/support/postgres-setup.ts', 'test/deploy/support/tools.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'gates',
          include: ['test/gates/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
