import { expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { step } from './blocks.ts';
import { calledBlocks, migrate, migrated, preview, treeOf } from './reshaping.ts';
import { TestEngine } from './test-engine.ts';

export type Blocks = readonly JsonObject[];

const failure = { ok: false as const, failure: { message: 'broken', retryable: false } };

export function world(): TestEngine {
  const engine = new TestEngine({
    scripts: {
      quick: {},
      slow: { takesMs: 500 },
      long: { takesMs: 60_000 },
      broken: { outcome: () => failure },
      long_broken: { takesMs: 60_000, outcome: () => failure },
    },
  });
  engine.boot();
  return engine;
}

export const gate = (id: string): JsonObject => step(id, 'quick', { wait_for_input: { prompt: 'May it?' } });
export const q = (id: string): JsonObject => step(id, 'quick');

/** An instance of the first version that waits for somebody outside. */
export async function waiting(engine: TestEngine, blocks: Blocks, data: Json = {}): Promise<string> {
  const id = await engine.start(await engine.publish(blocks), { data });
  await engine.untilState(id, 'waiting');
  return id;
}

export const answer = (engine: TestEngine, id: string, block = 'g') =>
  engine.signal(id, `custom:human_input:${block}`, { value: 'yes' });

/** Moves a waiting run, checks that the preview foretold its tree, and answers its gate. */
export async function moved(engine: TestEngine, id: string, blocks: Blocks): Promise<void> {
  const target = await engine.publish(blocks);
  await migrated(engine, id, target);
  expect((await engine.view(id)).sequenceId).toBe(target);
}

export async function finished(engine: TestEngine, id: string): Promise<readonly string[]> {
  await answer(engine, id);
  expect((await engine.untilEnded(id)).state).toBe('completed');
  return calledBlocks(engine, id);
}

/** A refused move says why in preview and answer, and changes nothing. */
export async function refused(engine: TestEngine, id: string, blocks: Blocks): Promise<string> {
  const target = await engine.publish(blocks);
  const before = [await engine.view(id), await treeOf(engine, id)];
  const told = await preview(engine, id, target);
  if (!told.ok) throw new Error(told.error.message);
  const reasons = told.value.preview.refusals.map(({ reason }) => reason);
  const answered = await migrate(engine, id, target);
  expect(answered).toMatchObject({ ok: false, error: { kind: 'conflict', code: 'cannot_migrate' } });
  expect([await engine.view(id), await treeOf(engine, id)]).toEqual(before);
  return reasons.join('; ');
}
