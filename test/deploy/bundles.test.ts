import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsProject, bundleProject } from './support/installation.ts';
import { loadedFiles } from './support/loaded-files.ts';
import { type FunctionName, functionOf, SERVING } from './support/resources.ts';
import { testedNodes } from './support/tools.ts';

const KILO = 1000;
const STARTS = 7;

let project: AwsProject;
const report: string[] = [];

beforeAll(async () => {
  project = await bundleProject();
});
afterAll(() => {
  project.remove();
  console.log(report.join('\n'));
});

const loaded = (name: FunctionName) => loadedFiles(project.bundleOf(name));

describe('what a function loads before its first event', () => {
  it.each(SERVING)('%s: less than 350 kB, minified', (name) => {
    const { bytes } = loaded(name);
    report.push(`${name}: ${(bytes / KILO).toFixed(0)} kB`);
    expect(bytes).toBeLessThan(350 * KILO);
  });

  it.each(SERVING)('%s: no migrations, no dashboard, no client that only some calls need', (name) => {
    const { inputs } = loaded(name);
    const unwanted =
      /migrations|swagger|dashboard|@aws-sdk|drizzle-orm|neondatabase|openapi|node_modules\/pg\//;
    expect(inputs.filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('Deploy: the migrations are there', () => {
    expect(loaded('Deploy').bytes).toBeGreaterThan(loaded('Turn').bytes);
  });
});

describe.each(testedNodes())('on Node $version', ({ version, program }) => {
  it.each(SERVING)('%s can be imported', (name) => {
    const file = functionOf(project.evaluated, name).handler.replace(/[.]\w+$/, '.mjs');
    const path = pathToFileURL(join(project.bundleOf(name), file)).href;
    const script = `const t = performance.now(); const { handler } = await import('${path}'); console.log(typeof handler, performance.now() - t)`;
    const times = Array.from({ length: STARTS }, () => {
      const [type, ms] = execFileSync(program, ['--input-type=module', '-e', script], {
        encoding: 'utf8',
      }).split(' ');
      expect(type).toBe('function');
      return Number(ms);
    });
    const median = times.toSorted((left, right) => left - right)[Math.floor(STARTS / 2)] ?? Number.NaN;
    report.push(`${name} on Node ${version}: imported in ${median.toFixed(0)} ms (median of ${STARTS})`);
  });
});
