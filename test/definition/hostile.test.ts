import { describe, expect, it } from 'vitest';
import { parseSequence } from '../../src/core/definition/parse-sequence.ts';
import type { Json } from '../../src/core/json.ts';
import { accepted, documentOf, refusal, step } from './documents.ts';

const parsed = (text: string): Json => JSON.parse(text);

describe('hostile documents', () => {
  it('a million nested arrays are refused without recursion', () => {
    let body: Json = [];
    for (let level = 0; level < 1_000_000; level += 1) body = [body];
    expect(refusal(body)).toMatchObject({ status: 400 });
    expect(refusal(documentOf(body)).message).toContain('LIM-2');
    expect(refusal(documentOf([step('a', { params: body })])).message).toContain(
      'nested more than 512 levels',
    );
  });

  it('100,000 nested blocks are refused without recursion', () => {
    let block: Json = step('leaf');
    for (let level = 0; level < 100_000; level += 1) block = { type: 'loop', id: `l${level}`, body: [block] };
    expect(refusal(documentOf([block]))).toMatchObject({ status: 400 });
  });

  it('64 levels of the block with the deepest JSON are accepted', () => {
    let block: Json = step('leaf');
    for (let level = 0; level < 64; level += 1) {
      block = {
        type: 'a_b_split',
        id: `s${level}`,
        variants: [
          { name: 'a', weight: 1, blocks: [block] },
          { name: 'b', weight: 1, blocks: [] },
        ],
      };
    }
    expect(accepted(documentOf([block])).blocks).toHaveLength(1);
  });

  it('keys named __proto__ are unknown members and change no prototype', () => {
    const body = parsed(
      '{"__proto__":{"blocks":[]},"id":"5d0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911","tenant_id":"t","namespace":"n","name":"x",' +
        '"version":1,"created_at":"2027-02-01T09:00:00Z","blocks":[{"type":"step","id":"a","handler":"noop",' +
        '"__proto__":{"cancellable":false},"retry":{"__proto__":{"max_attempts":1}}}]}',
    );
    expect(refusal(body).message).toContain('missing field `max_attempts`');
    const without = parsed(JSON.stringify(body).replace(/,"retry":\{.*?\}\}/, ''));
    const result = parseSequence(without);
    expect(result.ok && result.value.document.blocks[0]).toEqual({
      type: 'step',
      id: 'a',
      handler: 'noop',
      cancellable: true,
    });
    expect(result.ok && result.value.warnings.map(({ path }) => path)).toEqual([
      '__proto__',
      'blocks[0].__proto__',
    ]);
  });

  it('a lone type is no block', () => {
    for (const type of ['step', 'parallel', 'race', 'router', 'try_catch', 'loop', 'for_each', 'saga']) {
      expect(refusal(documentOf([{ type }]))).toMatchObject({ status: 422 });
    }
  });

  it('members inherited from prototypes do not count', () => {
    const block = Object.create({ handler: 'noop' });
    Object.assign(block, { type: 'step', id: 'a' });
    expect(refusal(documentOf([block])).message).toContain('missing field `handler`');
  });

  it('huge names and values do not flood the reply', () => {
    const huge = 'x'.repeat(1_000_000);
    for (const body of [
      documentOf([step(huge, { handler: '' })]),
      documentOf([{ type: huge, id: 'a' }]),
      documentOf([step('a')], { status: huge }),
      documentOf([step('a', { delay: { duration: 0, timezone: huge } })]),
    ]) {
      expect(JSON.stringify(refusal(body)).length).toBeLessThan(5000);
    }
  });

  it('100,000 tiny blocks are refused before their shape is read', () => {
    expect(refusal(documentOf(Array.from({ length: 100_000 }, () => ({ type: 'x' })))).message).toContain(
      'LIM-3',
    );
  });

  it('lone surrogates and NUL in ids are carried as they are; the door refuses them earlier', () => {
    expect(accepted(documentOf([step('\ud800'), step('\u0000')])).blocks).toHaveLength(2);
  });
});
