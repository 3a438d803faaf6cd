import { describe, expect, it } from 'vitest';
import { parseBlocks } from '../../src/core/definition/parse-blocks.ts';
import type { Json } from '../../src/core/json.ts';
import { step } from './documents.ts';

const refused = (blocks: Json, taken: readonly string[] = []): string => {
  const parsed = parseBlocks(blocks, new Set(taken));
  return parsed.ok ? 'accepted' : `${parsed.error.status} ${parsed.error.message}`;
};

describe('blocks for a running instance', () => {
  it('[OP-9] are given their stored form', () => {
    const parsed = parseBlocks([step('a', { timeout: 1.5, odd: 1 })], new Set(['b']));
    expect(parsed.ok && parsed.value.blocks).toEqual([
      { type: 'step', id: 'a', handler: 'noop', timeout: 1500, cancellable: true },
    ]);
    expect(parsed.ok && parsed.value.warnings.map(({ code }) => code)).toEqual(['unknown_field']);
  });

  it('[OP-9] are refused with 400 for a wrong shape, a broken limit, or when there are none', () => {
    expect(refused([step('a', { handler: 5 })])).toMatch(/^400 expected a string/);
    expect(refused([step('a', { handler: '' })])).toMatch(/^400 .*LIM-5/);
    expect(refused([])).toMatch(/^400 .*at least one block/);
    expect(refused('x')).toMatch(/^400 /);
  });

  it('[OP-9] must not use an id that is taken, at any depth', () => {
    expect(refused([step('a')], ['a'])).toBe("400 block 'a': duplicate block id 'a' (OP-9) at blocks[0]");
    const saga = { type: 'saga', id: 's', steps: [{ id: 'x', action: step('y') }] };
    expect(refused([saga], ['x'])).toMatch(/^400 block 's': duplicate block id 'x'/);
    expect(refused([saga], ['y'])).toMatch(/^400 block 'y': duplicate .*blocks\[0\]\.steps\[0\]\.action$/);
    expect(refused([saga], ['z'])).toBe('accepted');
  });
});
