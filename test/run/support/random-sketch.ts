import fc from 'fast-check';

/** Trees without ids, as they are drawn. */

/** What a leaf does; ids are given to the tree afterwards, in document order. */
export type LeafKind =
  | 'step'
  | 'pure'
  | 'task'
  | 'sleep'
  | 'delay'
  | 'gate'
  | 'event'
  | 'child'
  | 'never'
  | 'tough'
  | 'modify';

export type Sketch =
  | { readonly kind: LeafKind; readonly mood: number; readonly ms: number }
  | {
      readonly kind: 'block';
      readonly of: BlockKind;
      readonly lists: readonly (readonly Sketch[])[];
      readonly pick: number;
    };

const BLOCK_KINDS = [
  'parallel',
  'fail_fast',
  'some',
  'race',
  'first_success',
  'router',
  'try',
  'loop',
  'tolerant_loop',
  'for_each',
  'fan_out',
  'tolerant_fan_out',
  'scope',
  'split',
  'saga',
] as const;
type BlockKind = (typeof BLOCK_KINDS)[number];

const leaf: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.constantFrom<LeafKind>(
    'step',
    'step',
    'pure',
    'pure',
    'task',
    'sleep',
    'delay',
    'gate',
    'event',
    'child',
    'never',
    'tough',
    'modify',
  ),
  mood: fc.integer({ min: 0, max: 99 }),
  ms: fc.constantFrom(10, 20, 30, 70),
});

/** Trees of at most this depth of blocks. */
export function sketch(depth: number): fc.Arbitrary<Sketch> {
  if (depth === 0) return leaf;
  const list = fc.array(sketch(depth - 1), { minLength: 0, maxLength: 3 });
  const block: fc.Arbitrary<Sketch> = fc.record({
    kind: fc.constant('block' as const),
    of: fc.constantFrom(...BLOCK_KINDS),
    lists: fc.array(list, { minLength: 1, maxLength: 3 }),
    pick: fc.integer({ min: 0, max: 9 }),
  });
  return fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 3, arbitrary: block });
}
