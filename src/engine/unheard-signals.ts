import { nearestName } from '../core/definition/did-you-mean.ts';
import type { Plan } from '../core/run/plan.ts';
import type { SignalRow } from '../ports/store/inspection.ts';
import type { UnheardSignal } from './explanation.ts';

const CUSTOM_PREFIX = 'custom:';
const GATE_PREFIX = 'human_input:';

/** Newest signals that are looked at. */
export const SIGNALS_LOOKED_AT = 20;

/**
 * Accepted custom signals that nothing in the run waits for: they have been, or will be, consumed without effect ([HI-3]), and
 * nobody else tells their sender. A signal that a trace shows is heard ([INT-3]), and so is one that an open gate has refused.
 */
export function unheardSignals(rows: readonly SignalRow[], plan: Plan): readonly UnheardSignal[] {
  const gates = gateIds(plan);
  const isTraced = plan.document.interceptors?.on_signal !== undefined;
  return rows.flatMap((row) => {
    if (!row.signalType.startsWith(CUSTOM_PREFIX) || row.disposition === 'applied') return [];
    const name = row.signalType.slice(CUSTOM_PREFIX.length);
    const detail = name.startsWith(GATE_PREFIX)
      ? whyNoGate(name.slice(GATE_PREFIX.length), gates, plan, row)
      : whyNobody(name, gates, isTraced);
    return detail === null ? [] : [{ signalId: row.id, name, acceptedAt: row.createdAt, detail }];
  });
}

/** Steps that ask somebody: before their handler runs, or what became of a call whose end is unknown (RULINGS B10). */
function gateIds(plan: Plan): ReadonlySet<string> {
  const ids = plan.inOrder.flatMap(({ block }) => {
    const asks =
      block.type === 'step' && (block.wait_for_input !== undefined || block.on_uncertain === 'ask');
    return asks ? [block.id] : [];
  });
  return new Set(ids);
}

function whyNoGate(
  blockId: string,
  gates: ReadonlySet<string>,
  plan: Plan,
  { disposition }: SignalRow,
): string | null {
  if (gates.has(blockId))
    return disposition === 'no_effect' ? `came when '${blockId}' no longer asked, and was not taken` : null;
  const what = plan.nodes.has(blockId) ? `'${blockId}' asks nobody` : `there is no block '${blockId}'`;
  return `${what}, so nothing waits for it${hint(blockId, gates)}`;
}

function whyNobody(name: string, gates: ReadonlySet<string>, isTraced: boolean): string | null {
  if (isTraced) return null;
  return `nothing waits for a signal of this name${gates.has(name) ? suggestion(name) : hint(name, gates)}`;
}

function hint(name: string, gates: ReadonlySet<string>): string {
  const nearest = nearestName(name, gates);
  return nearest === undefined ? '' : suggestion(nearest);
}

function suggestion(blockId: string): string {
  return `; did you mean '${GATE_PREFIX}${blockId}'?`;
}
