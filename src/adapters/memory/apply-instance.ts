import { type Json, type JsonObject, isJsonObject, jsonObject, mergeObjects } from '../../core/json.ts';
import type { InstancePatch, TurnCommit } from '../../ports/store/turn.ts';
import { type InstanceRow, stored } from './rows.ts';

/** The row with the columns of the patch; counters first, so that a new run begins from nothing. */
export function patchInstance(row: InstanceRow, turn: TurnCommit): InstanceRow {
  const patch = stored(turn.instance);
  const base = patch.newRun === undefined ? row : beginRun(row, patch.newRun);
  return {
    ...base,
    totalSteps: base.totalSteps + turn.stepsDelta,
    state: patch.state ?? base.state,
    data: patchData(base.data, patch),
    config: patch.config ?? base.config,
    audit: patch.audit ?? base.audit,
    metadata: patch.metadata ?? base.metadata,
    budget: patch.budget ?? base.budget,
    usage: patch.usage ?? base.usage,
    startedAt: patch.startedAt ?? base.startedAt,
    cancelRequestedAt: patch.cancelRequestedAt ?? base.cancelRequestedAt,
    currentStep: patch.currentStep ?? base.currentStep,
    hooks: patch.hooks === undefined ? (base.hooks ?? null) : patch.hooks,
  };
}

/** [OP-2]: what the run before counted and how it ended is over; so is a cancel of it. */
function beginRun(row: InstanceRow, run: { readonly runNo: number; readonly runId: string }): InstanceRow {
  return {
    ...row,
    ...run,
    totalSteps: 0,
    startedAt: null,
    cancelRequestedAt: null,
    cancelSeq: null,
    currentStep: null,
    usage: null,
    failure: null,
  };
}

/** Replaced as a whole, then keys set ([CTX-2]: data that is no object becomes {}), then keys removed. */
function patchData(before: Json, patch: InstancePatch): Json {
  const replaced = patch.data ?? (Object.hasOwn(patch, 'data') ? null : before);
  const merged =
    patch.dataSet === undefined ? replaced : stored(mergeObjects(objectOr(replaced), patch.dataSet));
  const removed = new Set(patch.dataRemoved);
  if (removed.size === 0 || !isJsonObject(merged)) return merged;
  return stored(jsonObject(Object.entries(merged).filter(([key]) => !removed.has(key))));
}

function objectOr(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}
