import { foldRun } from '../core/run/fold/fold-run.ts';
import type { HistoryRow } from '../core/run/fold/history-row.ts';
import { latestNodeRows } from '../core/run/fold/latest-rows.ts';
import { type TreeNode, buildTree } from '../core/run/tree.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/**
 * The tree as it stood at the end of an earlier run: folded from the rows that were in the lists then, since a retry and a
 * resume-from take rows out of the lists and delete none (RULINGS B1, B2). 404 unknown instance, 400 for a run that has not
 * ended, or that there never was.
 */
export async function readEarlierTree(
  deps: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
  runNo: number,
): Promise<Result<readonly TreeNode[], Refusal>> {
  const history = await deps.store.getHistory(tenantId, instanceId);
  if (history === null) return notFound('instance', instanceId);
  const { instance } = history;
  if (runNo < 1 || runNo >= instance.runNo) {
    return refuse('invalid_argument', `run ${runNo} is no earlier run: the present one is ${instance.runNo}`);
  }
  const plan = await deps.definitions.planOf(instance);
  if (plan === null) return ok([]);
  const rows = history.rows
    .filter((row) => wasThere(row, runNo))
    .map((row) => ({ ...row, supersededBy: null }));
  const ended = { state: 'failed' as const, startedAt: instance.createdAt, cancelRequestedAt: null };
  const frames = foldRun({ plan, rows, instance: ended });
  const { createdAt } = instance;
  return ok(
    buildTree({ plan, instanceId, createdAt, frames, rows: latestNodeRows(rows), isWorkedOn: false }),
  );
}

function wasThere({ runNo, supersededBy }: HistoryRow, run: number): boolean {
  return runNo <= run && (supersededBy === null || supersededBy > run);
}
