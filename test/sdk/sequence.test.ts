import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import type { Block, SequenceDocument } from '../../src/core/definition/document.ts';
import { type BlockDraft, type SequenceDraft, sequence } from '../../src/sdk/index.ts';

type Written = z.input<typeof Block>;
type DraftOf<Type extends Written['type']> = Extract<BlockDraft, { readonly type: Type }>;
type WrittenOf<Type extends Written['type']> = Extract<Written, { type: Type }>;
type Keys = { [Type in Written['type']]: keyof WrittenOf<Type> };
type DraftKeys = { [Type in Written['type']]: keyof DraftOf<Type> };

describe('a sequence in TypeScript', () => {
  it('has the types of the document', () => {
    expectTypeOf<BlockDraft['type']>().toEqualTypeOf<Written['type']>();
    expectTypeOf<DraftKeys>().toEqualTypeOf<Keys>();
    expectTypeOf<Written>().toExtend<BlockDraft>();
    expectTypeOf<keyof SequenceDraft>().toEqualTypeOf<keyof z.input<typeof SequenceDocument>>();
    expectTypeOf<z.input<typeof SequenceDocument>>().toExtend<SequenceDraft>();
  });

  it('is the document itself', () => {
    const draft: SequenceDraft = {
      name: 'parcel',
      blocks: [
        {
          type: 'router',
          id: 'way',
          routes: [{ condition: 'data.big', blocks: [{ type: 'step', id: 'truck', handler: 'noop' }] }],
        },
      ],
    };
    expect(sequence(draft)).toBe(draft);
  });

  it('is refused at once with all its problems', () => {
    const step = { type: 'step', id: 'a', handler: 'noop' } as const;
    const twice = () => sequence({ name: 'parcel', blocks: [step, { ...step, timeout: 1e15 }] });
    expect(twice).toThrow(TypeError);
    expect(twice).toThrow(
      /^sequence parcel cannot be published:\n {2}blocks\[1\]\S*: .*\n {2}blocks\[1\]\S*: /,
    );
  });

  it('takes members that are undefined for left out, and nothing that is no JSON', () => {
    const step = { type: 'step', id: 'a', handler: 'noop' } as const;
    expect(sequence({ name: 'parcel', status: undefined, blocks: [step] }).name).toBe('parcel');
    const when = (() => true) as never;
    expect(() => sequence({ name: 'parcel', blocks: [{ ...step, when }] })).toThrow(
      'it holds a function at /blocks/0/when',
    );
  });
});
