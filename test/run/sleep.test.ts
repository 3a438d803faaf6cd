import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { parseSleep } from '../../src/core/run/leaf/sleep.ts';

describe('params of sleep', () => {
  it.each([
    [{}, 100],
    [{ duration_ms: 0 }, 0],
    [{ duration_ms: 5000 }, 5000],
    [{ duration_ms: 315_360_000_000 }, 315_360_000_000],
    [{ duration_ms: 315_360_000_001 }, 315_360_000_000],
    [{ duration_ms: 1.5 }, 100],
    [{ duration_ms: -1 }, 100],
    [{ duration_ms: '5' }, 100],
    [{ duration_ms: null }, 100],
    [null, 100],
    ['text', 100],
  ] satisfies [Json, number][])('SLEEP reads %j as %d ms [H-7]', (params, durationMs) => {
    expect(parseSleep(params)).toBe(durationMs);
  });
});
