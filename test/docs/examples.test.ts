import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkDataflow } from '../../src/core/dataflow/check-dataflow.ts';
import { parseSequence } from '../../src/core/definition/parse-sequence.ts';
import { BUILT_IN_PARAMS } from '../../src/core/definition/built-in-params.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { FILLED_IN } from './sections.ts';

const files = readdirSync('examples').filter((name) => name.endsWith('.json'));

describe('the JSON documents in examples', () => {
  it.each(files)('%s is clean: it publishes without a warning, and every reference fits', (name) => {
    // A shipped document is read as its user reads it; what is wrong with it, the parser says.
    const draft = JSON.parse(readFileSync(`examples/${name}`, 'utf8')) as JsonObject;
    const knownHandlers = new Set(Object.keys(BUILT_IN_PARAMS));
    const parsed = parseSequence({ ...FILLED_IN, ...draft }, { knownHandlers });
    expect(parsed).toMatchObject({ ok: true, value: { warnings: [] } });
    expect(parsed.ok && checkDataflow(parsed.value.document).findings).toEqual([]);
  });
});
