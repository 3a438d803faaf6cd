import type { Json } from '../../src/core/json.ts';
import type { Draw } from './draw.ts';
import type { Happening } from './world.ts';

const LATEST_MS = 25_000;

/** What arrives from outside, at moments anywhere in the run. */
export function generateHappenings(draw: Draw, gates: readonly string[]): Happening[] {
  const happenings: Happening[] = [];
  const count = draw.oneOf([0, 0, 1, 1, 2, 3]);
  for (let nth = 0; nth < count; nth += 1) happenings.push(...oneHappening(draw));
  for (const block of gates) {
    const answers = draw.oneOf([0, 1, 1, 2]);
    for (let nth = 0; nth < answers; nth += 1) happenings.push(gateAnswer(draw, block));
  }
  return happenings.toSorted((left, right) => left.at - right.at);
}

function oneHappening(draw: Draw): Happening[] {
  const at = momentOf(draw);
  const signal = (
    type: 'pause' | 'resume' | 'cancel' | 'update_context',
    payload: Json = null,
  ): Happening => ({
    at,
    kind: 'signal',
    type,
    payload,
  });
  const later = at + 501 + draw.below(9000);
  const resumed: Happening = { at: later, kind: 'signal', type: 'resume', payload: null };
  return draw.oneOf<() => Happening[]>([
    () => [signal('cancel')],
    () => [signal('cancel')],
    () => [signal('pause'), resumed],
    () => [signal('pause'), resumed],
    () => [signal('pause')],
    () => [signal('resume')],
    () => [signal('update_context', { data: { n: draw.below(3), w: draw.below(2) } })],
    () => [{ at, kind: 'set_state', state: 'cancelled' }],
    () => [
      { at, kind: 'set_state', state: 'paused' },
      // A patch to `scheduled` may be refused while a turn holds the instance (409); the signal is kept.
      resumed,
    ],
    () => [{ at, kind: 'patch_context', data: { n: draw.below(3) }, mode: draw.oneOf(['replace', 'merge']) }],
    () => [{ at: at + 60_000, kind: 'retry' }],
    () => [{ at, kind: 'retry' }],
  ])();
}

function gateAnswer(draw: Draw, block: string): Happening {
  const payload = draw.oneOf<Json>([
    { value: 'yes' },
    { value: 'yes', comment: 'fine' },
    { value: 'no' },
    { value: 'maybe' },
  ]);
  return { at: momentOf(draw), kind: 'signal', type: { custom: `human_input:${block}` }, payload };
}

/** Odd, so that it rarely meets another instant of the case. */
const momentOf = (draw: Draw): number => 51 + 2 * draw.below(LATEST_MS / 2);
