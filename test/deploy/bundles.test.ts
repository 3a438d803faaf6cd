import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { tellFigures } from '../support/figures.ts';
import { type AwsProject, bundleProject } from './support/installation.ts';
import { loadedFiles } from './support/loaded-files.ts';
import { type FunctionName, functionOf, SERVING } from './support/resources.ts';
import { testedNodes } from './support/tools.ts';

const LIMIT_BYTES = 350_000;
const STARTS = 7;
/** What most events do without, and what only a deployment needs. */
const UNWANTED =
  /migrat|swagger|dashboard|openapi|@aws-sdk|drizzle-orm|@neondatabase|node_modules\/(pg|zod)\/|adapters\/postgres\/drivers|src\/cli/;

let project: AwsProject;

beforeAll(async () => {
  project = await bundleProject('small');
});
afterAll(() => project.remove());

const loaded = (name: FunctionName) => loadedFiles(project.bundleOf(name), project.folder);

describe('what a function loads before its first event', () => {
  it.each(SERVING)('%s: less than 350 kB, minified', (name) => {
    const { bytes, bundleBytes } = loaded(name);
    tellFigures('bundles', { function: name, bytes, bundleBytes, limitBytes: LIMIT_BYTES });
    expect(bytes).toBeLessThan(LIMIT_BYTES);
  });

  it.each(SERVING)(
    '%s: no migrations, no dashboard, no client or schema that only some calls need',
    (name) => {
      const { modules } = loaded(name);
      expect(modules).toContain('functions/aws/compose.ts');
      expect(modules.filter((path) => UNWANTED.test(path))).toEqual([]);
    },
  );

  it('Deploy: the migrations, which so are seen where they are', () => {
    expect(loaded('Deploy').modules).toContain('src/adapters/postgres/migrations.generated.ts');
    expect(loaded('Deploy').bytes).toBeGreaterThan(loaded('Turn').bytes);
  });
});

describe.each(testedNodes())('the functions on Node $version', ({ version, program }) => {
  it.each(SERVING)('%s can be imported', (name) => {
    const times = Array.from({ length: STARTS }, () => importMs(program, name));
    const sorted = times.toSorted((left, right) => left - right);
    const median = sorted[Math.floor(STARTS / 2)] ?? Number.NaN;
    tellFigures('imports', { function: name, node: version, ms: Math.round(median) });
    expect(times).toHaveLength(STARTS);
  });

  it.each(SERVING)('%s loads what its bundle says, and nothing more', (name) => {
    expect(loadedBytes(program, name)).toBe(loaded(name).bytes);
  });
});

/** A new process imports the function, as the runtime does; answers what its own clock says. */
function importMs(program: string, name: FunctionName): number {
  const [type, ms] = importBy(program, name).split(' ');
  expect(type).toBe('function');
  return Number(ms);
}

/** How much of a bundle a process has loaded when it has imported the function. */
function loadedBytes(program: string, name: FunctionName): number {
  const folder = mkdtempSync(join(tmpdir(), 'stepwell-loaded-'));
  try {
    importBy(program, name, { NODE_V8_COVERAGE: folder });
    const [report = ''] = readdirSync(folder);
    const { result } = Coverage.parse(JSON.parse(readFileSync(join(folder, report), 'utf8')));
    const own = pathToFileURL(project.bundleOf(name)).href;
    const files = result.flatMap(({ url }) => (url.startsWith(own) ? [fileURLToPath(url)] : []));
    return files.reduce((sum, file) => sum + statSync(file).size, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const Coverage = z.object({ result: z.array(z.object({ url: z.string() })) });

function importBy(
  program: string,
  name: FunctionName,
  environment: Readonly<Record<string, string>> = {},
): string {
  const file = functionOf(project.evaluated, name).handler.replace(/[.]\w+$/, '.mjs');
  const path = pathToFileURL(join(project.bundleOf(name), file)).href;
  // The runtime gives handlers that stream what they need before it loads them.
  const script = `globalThis.awslambda = { streamifyResponse: (stream) => stream }; const t = performance.now(); const { handler } = await import('${path}'); console.log(typeof handler, performance.now() - t)`;
  const env = { ...process.env, ...environment };
  return execFileSync(program, ['--input-type=module', '-e', script], { encoding: 'utf8', env });
}
