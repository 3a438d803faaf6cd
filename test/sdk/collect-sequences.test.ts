import { describe, expect, it } from 'vitest';
import { collectSequences } from '../../src/sdk/collect-sequences.ts';

const blocks = [{ type: 'step', id: 'a', handler: 'noop' }];
const trip = { name: 'trip', blocks };
const hike = { name: 'hike', blocks };
const of = (content: unknown, file = 'sequences/trips.ts') => collectSequences([{ file, content }]);
const problemOf = (content: unknown, file?: string): string => {
  const collected = of(content, file);
  return collected.ok ? 'none' : collected.error.message;
};

describe('the sequences of a module', () => {
  it('are its exports that are sequences, its lists of them and its default, each once', () => {
    expect(of({ trip, hike })).toEqual({ ok: true, value: [trip, hike] });
    expect(of({ trip, all: [trip, hike], default: hike })).toEqual({ ok: true, value: [trip, hike] });
    expect(of({ default: [trip] })).toEqual({ ok: true, value: [trip] });
    const again = { file: 'sequences/index.ts', content: { trip: { blocks, name: 'trip' } } };
    const once = collectSequences([{ file: 'sequences/trip.ts', content: { trip } }, again]);
    expect(once.ok && once.value.length).toBe(1);
  });

  it('stand beside helpers, which are left alone', () => {
    const scope = { type: 'cancellation_scope', id: 'b', blocks };
    const helpers = { RETRY: { max_attempts: 3 }, step: () => null, LIMIT: 3, names: ['a'], nothing: null };
    const desk = { name: 'desk', url: 'https://desk.example.com' };
    expect(of({ trip, scope, desk, ...helpers })).toEqual({ ok: true, value: [trip] });
  });

  it('lack nothing in silence: what looks like one and is none is named with its file', () => {
    expect(problemOf({ trip, hike: { blocks } })).toBe(
      'the export hike of sequences/trips.ts is no sequence: it has no name (a text)',
    );
    expect(problemOf({ trip, hike: { name: 'hike', namespace: 'n' } })).toBe(
      'the export hike of sequences/trips.ts is no sequence: it has no blocks (a list)',
    );
    expect(problemOf({ hike: { name: 7, blocks: {} } })).toContain('no name (a text) and no blocks (a list)');
    expect(problemOf({ all: [trip, { name: 'hike' }] })).toContain('item 1 of the export all of sequences/');
  });

  it('are meant by a default export, whatever it looks like', () => {
    expect(problemOf({ trip, default: { steps: blocks } })).toContain(
      'the default export of sequences/trips.ts',
    );
    expect(problemOf({ trip, default: () => trip })).toContain('is no sequence');
    expect(problemOf({ default: [trip, 'hike'] })).toBe(
      'item 1 of the default export of sequences/trips.ts is no sequence',
    );
  });

  it('hold nothing that is no JSON', () => {
    expect(problemOf({ trip: { ...trip, input_schema: { check: () => true } } })).toContain('it holds');
  });

  it('are missed when no file of the project exports one', () => {
    expect(problemOf({ LIMIT: 3 })).toBe('sequences/trips.ts: no sequence is exported');
    expect(collectSequences([])).toEqual({ ok: true, value: [] });
    const helpers = { file: 'sequences/shared.ts', content: { LIMIT: 3 } };
    expect(collectSequences([helpers, { file: 'sequences/trips.ts', content: { trip } }]).ok).toBe(true);
  });
});

describe('a JSON file', () => {
  it('is one sequence, and nothing else may stand there', () => {
    expect(of(trip, 'trip.json')).toEqual({ ok: true, value: [trip] });
    expect(problemOf({ trip }, 'trip.json')).toBe(
      'trip.json is no sequence: it has no name (a text) and no blocks (a list)',
    );
    expect(problemOf([trip], 'trip.json')).toBe('trip.json is no sequence');
  });
});
