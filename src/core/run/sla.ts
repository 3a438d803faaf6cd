import type { Sla } from '../definition/document.ts';
import type { Settle } from './changes.ts';
import type { Draft } from './draft.ts';
import { type Alerted, ROOT_KEY } from './frame.ts';
import { currentList } from './plan.ts';
import { queueWebhooks } from './queue-webhooks.ts';

/** The run, or one of its steps, with the instant after which it is too late. */
interface Watched {
  /** Empty for the run itself. */
  readonly blockId: string;
  readonly startedAt: number;
  readonly limitMs: number;
  readonly kind: 'max_runtime' | 'max_step_runtime';
}

/**
 * [SLA-1], [SLA-2]: alerts what has taken too long, once per run and once per step and run. The run goes on. What has been
 * alerted is noted in the frame of the root list, so that nothing has to be read for it; a breach has the row, one outbox
 * entry and an entry of the journal in the same commit.
 */
export function checkSla(draft: Draft): void {
  const { now } = draft.env;
  for (const watched of watchedBy(draft)) {
    const alerted = alertedOf(draft);
    const elapsedMs = now - watched.startedAt;
    if (elapsedMs <= watched.limitMs || alerted.blockIds.includes(watched.blockId)) continue;
    draft.annotate(ROOT_KEY, {
      alerted: { runNo: alerted.runNo, blockIds: [...alerted.blockIds, watched.blockId] },
    });
    alert(draft, watched, elapsedMs);
  }
}

function alert(draft: Draft, { blockId, kind, limitMs }: Watched, elapsedMs: number): void {
  const alertedAt = new Date(draft.env.now).toISOString();
  draft.addRow({
    blockId: blockId === '' ? '_sla:runtime' : `_sla:step:${blockId}`,
    iteration: '',
    kind: 'sla',
    attempt: 0,
    output: { _sla_breach: kind, _alerted_at: alertedAt },
    startedAt: null,
  });
  const breach = {
    kind,
    ...(blockId === '' ? {} : { block_id: blockId }),
    limit_ms: limitMs,
    elapsed_ms: elapsedMs,
  };
  queueWebhooks(draft, 'instance.sla_breached', breach);
  draft.note('sla_breach', breach);
}

/** When the next alert falls due; null when none can. A run at rest is looked at then ([SLA-3]). */
export function nextAlert(draft: Draft): number | null {
  const alerted = alertedOf(draft);
  const instants = watchedBy(draft)
    .filter(({ blockId }) => !alerted.blockIds.includes(blockId))
    .map(({ startedAt, limitMs }) => startedAt + limitMs + 1);
  return instants.length === 0 ? null : Math.min(...instants);
}

/** The settle of a run that has not ended, due at its next alert at the latest; what the wire shows stays. */
export function withAlert(draft: Draft, settle: Settle): Settle {
  const at = nextAlert(draft);
  if (at === null || (settle.dueAt !== null && settle.dueAt <= at)) return settle;
  return { ...settle, dueAt: at };
}

/** Alerts of an earlier run are over. */
function alertedOf(draft: Draft): Alerted {
  const { runNo } = draft.record;
  const alerted = draft.frames.get(ROOT_KEY)?.alerted;
  return alerted?.runNo === runNo ? alerted : { runNo, blockIds: [] };
}

function watchedBy(draft: Draft): readonly Watched[] {
  const { sla } = draft.plan.document;
  // Alerts are not for dry runs ([DRY-4]).
  if (sla === undefined || draft.record.dryRun || draft.record.startedAt === null) return [];
  const { startedAt } = draft.record;
  const { max_runtime: limitMs } = sla;
  const run: Watched[] =
    limitMs === undefined ? [] : [{ blockId: '', startedAt, limitMs, kind: 'max_runtime' }];
  return [...run, ...stepsWatched(draft, sla)];
}

function stepsWatched(draft: Draft, { max_step_runtime: limitMs }: Sla): readonly Watched[] {
  if (limitMs === undefined) return [];
  return [...draft.frames.values()].flatMap((frame): readonly Watched[] => {
    const { leaf } = frame;
    if (frame.state !== 'open' || leaf === null || leaf.state === 'failed') return [];
    const block = currentList(draft.plan, frame)[frame.cursor];
    if (block?.type !== 'step') return [];
    return [{ blockId: block.id, startedAt: leaf.startedAt, limitMs, kind: 'max_step_runtime' }];
  });
}
