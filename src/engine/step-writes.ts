import type { Injected, KvChange } from '../core/run/advance.ts';
import type { Dispatch } from '../core/run/draft.ts';
import type { Outside } from '../core/run/outside.ts';
import type { StepOutcome, StepWrite } from '../ports/step-handler.ts';

interface StepWrites {
  readonly writes: readonly KvChange[];
  readonly outside?: Partial<Outside>;
  readonly injects?: Injected;
}

/** What a handler wants written, sorted by where it goes ([H-5]). */
export async function writesOf(
  outcome: Extract<StepOutcome, { ok: true }>,
  { blockId, iteration }: Pick<Dispatch, 'blockId' | 'iteration'>,
): Promise<StepWrites> {
  const all = outcome.writes ?? [];
  const writes = all.flatMap(kvChange);
  if (writes.length === all.length) return { writes };
  const injects = all.find((write) => write.type === 'inject_blocks');
  if (injects !== undefined) {
    const { checkInjection } = await import('../core/run/reshape/check-injection.ts');
    return { writes, injects: { check: (plan) => checkInjection(plan, injects.blocks, injects.position) } };
  }
  const signals = all.flatMap((write) => (write.type === 'signal' ? [write.signal] : []));
  const emits = all.flatMap((write) => (write.type === 'emit' ? [write.emit] : []));
  const takes = all.flatMap((write) =>
    write.type === 'take_events' ? [{ ...write.taken, blockId, iteration }] : [],
  );
  return { writes, outside: { signals, emits, takes } };
}

function kvChange(write: StepWrite): KvChange[] {
  if (write.type === 'state_set') return [{ key: write.key, value: write.value }];
  return write.type === 'state_delete' ? [{ key: write.key }] : [];
}
