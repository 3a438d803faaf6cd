import type { Plan } from '../core/run/plan.ts';
import type { Injection, PlanShape } from '../core/run/reshape/injected.ts';
import { readInjection } from '../core/run/reshape/check-injection.ts';
import { carriedOver } from '../core/run/reshape/injection.ts';
import type { ShapeChange } from '../ports/store/shape.ts';

/** What the changes up to a number have made of a run; refused ones have made nothing. */
export function shapeUpTo(base: Plan, changes: readonly ShapeChange[], upTo: number): PlanShape {
  let injections: readonly Injection[] = [];
  let wasMigrated = false;
  for (const { number, change, refused } of changes) {
    if (number > upTo || refused !== null) continue;
    if (change.kind === 'inject') injections = [...injections, readInjection(base, change)];
    else {
      injections = carriedOver(injections, change.replaced);
      wasMigrated = true;
    }
  }
  return { injections, wasMigrated };
}
