import { nearestName } from '../core/definition/did-you-mean.ts';
import type { StepBlock } from '../core/definition/document.ts';
import { whyNoChoice } from '../core/run/gate-answers.ts';
import { OUTCOME_CHOICES } from '../core/run/leaf/uncertain.ts';
import type { Plan } from '../core/run/plan.ts';
import type { SignalRow } from '../ports/store/inspection.ts';
import type { UnheardSignal } from './explanation.ts';

const CUSTOM_PREFIX = 'custom:';
const GATE_PREFIX = 'human_input:';

/** Newest signals that are looked at. */
export const SIGNALS_LOOKED_AT = 20;

/**
 * Accepted custom signals that nothing in the run waits for, or that no gate takes: they have been, or will be, consumed without
 * effect ([HI-3]), and nobody else tells their sender. A signal that a trace shows is heard ([INT-3]).
 */
export function unheardSignals(rows: readonly SignalRow[], plan: Plan): readonly UnheardSignal[] {
  const gates = gateValues(plan);
  const isTraced = plan.document.interceptors?.on_signal !== undefined;
  return rows.flatMap((row) => {
    if (!row.signalType.startsWith(CUSTOM_PREFIX) || row.disposition === 'applied') return [];
    const name = row.signalType.slice(CUSTOM_PREFIX.length);
    const detail = name.startsWith(GATE_PREFIX)
      ? whyNoGate(name.slice(GATE_PREFIX.length), gates, plan, row)
      : whyNobody(name, new Set(gates.keys()), isTraced);
    return detail === null ? [] : [{ signalId: row.id, name, acceptedAt: row.createdAt, detail }];
  });
}

/**
 * Steps that ask somebody: before their handler runs, or what became of a call whose end is unknown (RULINGS B10); each with
 * the values that it takes.
 */
function gateValues(plan: Plan): ReadonlyMap<string, readonly string[]> {
  return new Map(
    plan.inOrder.flatMap(({ block }) => {
      const values = block.type === 'step' ? valuesOf(block) : [];
      return values.length > 0 ? [[block.id, values] as const] : [];
    }),
  );
}

function valuesOf({ wait_for_input: input, on_uncertain: rule }: StepBlock): readonly string[] {
  const outcomes = rule === 'ask' ? OUTCOME_CHOICES : [];
  return [...(input?.choices ?? []), ...outcomes].map(({ value }) => value);
}

function whyNoGate(
  blockId: string,
  gates: ReadonlyMap<string, readonly string[]>,
  plan: Plan,
  row: SignalRow,
): string | null {
  const values = gates.get(blockId);
  if (values !== undefined) return whyNotTaken(blockId, values, row);
  const what = plan.nodes.has(blockId) ? `'${blockId}' asks nobody` : `there is no block '${blockId}'`;
  return `${what}, so nothing waits for it${hint(blockId, new Set(gates.keys()))}`;
}

/** Also of an answer that waits for its gate: it will not be taken when the gate is reached ([HI-6]). */
function whyNotTaken(blockId: string, values: readonly string[], row: SignalRow): string | null {
  const { disposition, payload, isLeftOut } = row;
  if (disposition === 'no_effect') return `came when '${blockId}' no longer asked, and was not taken`;
  if (disposition !== 'rejected' && disposition !== null) return null;
  const wrong = isLeftOut ? null : whyNoChoice(values, payload);
  if (wrong !== null) return `'${blockId}' takes no such answer: ${wrong}`;
  if (disposition === null) return null;
  // Which of several passes was meant, or whether there was room for it, is known to the gate alone.
  return `'${blockId}' did not take it; where several passes ask, an answer names one of them as 'iteration'`;
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
