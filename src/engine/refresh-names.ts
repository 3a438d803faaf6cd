import type { Plan } from '../core/run/plan.ts';
import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import { untilAnswered } from './until-answered.ts';

/** RULINGS B8: a name that this process lacks is not judged by what others had long ago. null: nothing is to be read. */
export function refreshNames(
  { directory, clock }: Pick<TurnDeps, 'directory' | 'clock'>,
  plan: Plan,
  lease: Lease,
  beganAtMs: number,
): Promise<void> | null {
  if (directory.isFreshFor(plan, beganAtMs)) return null;
  return untilAnswered(
    clock,
    () => directory.refresh(beganAtMs),
    () => lease.leftMs() > 0,
  );
}
