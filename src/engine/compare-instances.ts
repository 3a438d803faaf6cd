import { sha256Hex } from '../core/digest.ts';
import { canonicalJson } from '../core/json.ts';
import type { OutputRow, RowKind } from '../core/run/output-row.ts';
import type { InstanceState } from '../core/run/states.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Comparison {
  readonly leftState: InstanceState;
  readonly rightState: InstanceState;
  readonly onlyLeft: readonly string[];
  readonly onlyRight: readonly string[];
  readonly differing: readonly string[];
  readonly matchingCount: number;
}

/** Compares two runs by the latest real output of each block (http-api.md 6.9). 404 when either is unknown. */
export async function compareInstances(
  deps: UseCaseDeps,
  caller: Caller,
  left: string,
  right: string,
): Promise<Result<Comparison, Refusal>> {
  const [one, other] = await Promise.all([outcomeOf(deps, caller, left), outcomeOf(deps, caller, right)]);
  if (one === null) return notFound('instance', left);
  if (other === null) return notFound('instance', right);
  const both = [...one.outputs.keys()].filter((id) => other.outputs.has(id));
  const differing = both.filter((id) => one.outputs.get(id) !== other.outputs.get(id));
  return ok({
    leftState: one.state,
    rightState: other.state,
    onlyLeft: [...one.outputs.keys()].filter((id) => !other.outputs.has(id)),
    onlyRight: [...other.outputs.keys()].filter((id) => !one.outputs.has(id)),
    differing,
    matchingCount: both.length - differing.length,
  });
}

async function outcomeOf(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  id: string,
): Promise<{ readonly state: InstanceState; readonly outputs: ReadonlyMap<string, string> } | null> {
  const view = await deps.store.getInstance(tenantId, id);
  if (view === null) return null;
  const outputs = new Map<string, string>();
  for (let after: OutputRow | null = null; ; ) {
    const page = { node: false, retry: false, after, ...AT_ONCE };
    const rows: readonly OutputRow[] = (await deps.store.listOutputs(tenantId, id, page)) ?? [];
    for (const { kind, blockId, output } of rows) {
      if (REAL.has(kind)) outputs.set(blockId, sha256Hex(canonicalJson(output)));
    }
    after = rows.at(-1) ?? null;
    if (after === null) return { state: view.state, outputs };
  }
}

/** Rows are read in parts, and only digests of them are kept: a run may have more than a process can hold. */
const AT_ONCE = { limit: 500, maxBytes: 1024 * 1024 };

/** What a block put out: passes of a loop, the variant of a split and the answer at a gate too, but no trace of an attempt. */
const REAL: ReadonlySet<RowKind> = new Set(['result', 'escalation', 'gate', 'counter', 'variant']);
