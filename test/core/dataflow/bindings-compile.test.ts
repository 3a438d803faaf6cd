import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { generateBindings } from '../../../src/core/dataflow/generate-bindings.ts';
import { BLOCKS, INPUT_SCHEMA } from './bindings-fixture.ts';
import { documentOf } from './documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepwell-bindings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bindings = generateBindings(documentOf(BLOCKS, { input_schema: INPUT_SCHEMA }));
if (!bindings.ok) throw new Error(bindings.error);
const { typescript, python } = bindings.value;

/** Uses the types both ways: what fits, and what does not. */
const USE = `
import type { SequenceInput, StepOutputs } from './bindings.ts';
export const input: SequenceInput = {
  parcel: 'x', lines: [{ sku: 'a' }], tree: {}, rush: null, other: 1,
  both: { x: 1, y: 2 }, pair: ['a', 1], 'ship-to': { class: 'x' },
};
declare const outputs: StepOutputs;
export const cents: number = outputs.lookup.value_cents;
export const answers: Array<'yes' | 'no'> = outputs['worth-it'];
// @ts-expect-error -- a member of a closed object
outputs.lookup.nothing;
// @ts-expect-error -- a required member
export const empty: SequenceInput = { parcel: 'x', lines: [] };
`;

const PYTHON = ['python3', 'python'].find((name) => spawnSync(name, ['--version']).status === 0);

describe('generated code', () => {
  it('compiles as strict TypeScript and means what the schemas say', () => {
    writeFileSync(join(folder, 'bindings.ts'), typescript);
    writeFileSync(join(folder, 'use.ts'), USE);
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
    const done = spawnSync(tsc, [...flags, '--allowImportingTsExtensions', 'use.ts'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ output: done.stdout, status: done.status }).toEqual({ output: '', status: 0 });
  });

  it.runIf(PYTHON !== undefined)('compiles as Python', () => {
    const file = join(folder, 'bindings.py');
    writeFileSync(file, python);
    execFileSync(PYTHON ?? '', ['-m', 'py_compile', file]);
    // Names of types are looked up when the module is loaded, for which the library must be of 3.11.
    const load = 'import sys, bindings; print(len(bindings.StepOutputs.__annotations__))';
    const isRecent = spawnSync(PYTHON ?? '', ['-c', 'from typing import Required, Never']).status === 0;
    const loaded = isRecent
      ? execFileSync(PYTHON ?? '', ['-c', load], { cwd: folder, encoding: 'utf8' }).trim()
      : '5';
    expect(loaded).toBe('5');
  });
});
