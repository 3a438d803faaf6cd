import type { RouterBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Draft } from '../draft.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  knownFrame,
  openFrame,
  scopeAt,
} from '../place.ts';
import { knows } from '../knows.ts';

/** 9.3: the first truthy route, chosen once per entry; the default list has index = number of routes. */
export function runRouter(draft: Draft, place: Place, block: RouterBlock, runList: RunList): Outcome {
  if (knownFrame(draft, place, block) === undefined && !knows(draft, place, block)) return 'open';
  const frame = openFrame(draft, place, block, () => ({
    kind: 'router',
    route: chooseRoute(draft, place, block),
  }));
  const inner = inside(place, frame);
  const end = runList(draft, inner);
  return end === 'open' ? 'open' : closeBlock(draft, place, frameAt(draft, inner), end);
}

function chooseRoute(draft: Draft, place: Place, block: RouterBlock): number {
  const scope = scopeAt(draft, place);
  const chosen = block.routes.findIndex((route) => {
    const value = evaluateExpression(route.condition, scope, 'lenient');
    return value.ok && isTruthy(value.value);
  });
  return chosen === -1 ? block.routes.length : chosen;
}
