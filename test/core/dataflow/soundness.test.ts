import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { generateBindings } from '../../../src/core/dataflow/generate-bindings.ts';
import { walkedSchema } from '../../../src/core/dataflow/schema-views.ts';
import { walkSchema } from '../../../src/core/dataflow/walk-schema.ts';
import { validateAgainst } from '../../../src/core/definition/json-schema.ts';
import { newEvaluation, readPath } from '../../../src/core/expressions/paths.ts';
import type { Json } from '../../../src/core/json.ts';
import { dataScope } from '../../expressions/scope-fixture.ts';
import { documentOf, step } from './documents.ts';
import { paths, schemas } from './schema-arbitraries.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepwell-soundness-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A random schema with a value that fits it. */
const fitting = schemas.chain(({ schema, value }) => value.map((found) => ({ schema, value: found })));

/** What a template that names the path would read. */
const read = (value: Json, segments: readonly string[]): Json | undefined =>
  readPath({ root: 'data', segments }, newEvaluation(dataScope(value)));

describe('a path that is walked through a schema', () => {
  it('is there, or not, in every value as it was said', () => {
    const seen = { found: 0, missing: 0, unknown: 0 };
    const check = fc.property(fitting, paths, ({ schema, value }, segments) => {
      expect(validateAgainst(schema, value)).toEqual([]);
      const walked = walkSchema(walkedSchema(schema), segments);
      const found = read(value, segments);
      seen[walked.kind] += 1;
      const isSure = walked.kind === 'found' && !walked.isOptional;
      expect(isSure && !walked.isNullable && (found === undefined || found === null)).toBe(false);
      expect(walked.kind === 'missing' && found !== undefined).toBe(false);
    });
    fc.assert(check, { numRuns: 3000 });
    expect(Math.min(seen.found, seen.missing, seen.unknown)).toBeGreaterThan(50);
  });
});

describe('types generated from a schema', () => {
  it('take every value that fits the schema, in valid TypeScript and Python', () => {
    const samples = fc.sample(fitting, { numRuns: 80, seed: 20_270_211 });
    const uses = samples.map(({ schema, value }, index) => {
      const bindings = generateBindings(
        documentOf([step('a', { output_schema: schema })], { input_schema: schema }),
      );
      if (!bindings.ok) throw new Error(bindings.error);
      mkdirSync(join(folder, `m${index}`));
      writeFileSync(join(folder, `m${index}`, 'types.ts'), bindings.value.typescript);
      writeFileSync(join(folder, `m${index}`, 'types.py'), bindings.value.python);
      // Not written as a literal where a name has a meaning of its own.
      const literal = JSON.stringify(value).replaceAll('"__proto__":', '["__proto__"]:');
      return `import type { SequenceInput as T${index} } from './m${index}/types.ts';\nexport const v${index}: T${index} = ${literal};`;
    });
    writeFileSync(join(folder, 'uses.ts'), uses.join('\n'));
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--target',
      'es2022',
    ];
    const tsc = join(process.cwd(), 'node_modules/.bin/tsc');
    const done = spawnSync(tsc, [...flags, '--allowImportingTsExtensions', 'uses.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ output: done.stdout, status: done.status }).toEqual({ output: '', status: 0 });
    const python = spawnSync('python3', ['-m', 'compileall', '-q', folder], { encoding: 'utf8' });
    // Not every machine has Python; then there is no status.
    expect({ output: python.stdout ?? '', status: python.status ?? 0 }).toEqual({ output: '', status: 0 });
  });
});
