import { expect } from 'vitest';
import { Draft } from '../../../src/core/run/draft.ts';
import type { Edit } from '../../../src/core/run/go-back/edit.ts';
import { forkRun } from '../../../src/core/run/go-back/fork-run.ts';
import { resumeRun } from '../../../src/core/run/go-back/resume-run.ts';
import { Knowledge } from '../../../src/core/run/knowledge.ts';
import { readNeeds } from '../../../src/engine/read-needs.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { newInstance } from '../../support/turn-builder.ts';
import { checkCommitted } from './checks.ts';
import { claimedDraft } from './shape.ts';
import { LEASE_MS, type World } from './world.ts';

export interface ResumeAt {
  readonly block: string;
  readonly iteration?: string;
  readonly edit?: Edit;
  readonly data?: JsonObject;
  readonly signals?: readonly { readonly signalType: string; readonly payload: Json }[];
}

/** Goes back to a block, in a turn of its own as the engine does it. Answers why not, or null. */
export async function resumeNow(world: World, at: ResumeAt): Promise<string | null> {
  const answer = await world.store.claimOne({
    tenantId: null,
    instanceId: world.rootId,
    leaseToken: world.newId(),
    leaseOwner: 'operator',
    leaseMs: LEASE_MS,
    mode: 'operator',
  });
  if (answer.status !== 'claimed') throw new Error(`the operator's claim was answered with ${answer.status}`);
  const { claim } = answer;
  const history = await world.store.getHistory(null, world.rootId);
  const draft = await claimedDraft(world, claim);
  for (;;) {
    const resumed = resumeRun(draft, history?.rows ?? [], {
      blockId: at.block,
      iteration: at.iteration ?? null,
      data: at.data ?? {},
      edit: at.edit ?? null,
      signals: (at.signals ?? []).map((signal) => ({ ...signal, id: world.newId() })),
      runId: world.newId(),
    });
    if (resumed === 'needs_items') {
      const needs = draft.knowledge.takeNeeds();
      if (needs === null) throw new Error('nothing is needed after all');
      await readNeeds(world.store, draft, needs);
      continue;
    }
    if (!resumed.ok) {
      await world.store.releaseLeases([claim]);
      return resumed.error.reason;
    }
    break;
  }
  const outside = new Set(['worker', 'input', 'event', 'child']);
  const openWaits = [...draft.frames.values()].filter(({ leaf }) => outside.has(leaf?.reason ?? '')).length;
  const { tenantId, instanceId, epoch, leaseToken } = claim;
  const fence = { tenantId, instanceId, epoch, leaseToken, rev: claim.instance.rev };
  const settled = {
    state: 'scheduled' as const,
    nextFireAt: null,
    dueAt: world.now,
    openWaits,
    failure: null,
  };
  const { verdicts } = await world.store.commit([
    { ...fence, runNo: claim.instance.runNo, seenSeq: 0, ...draft.takeChanges(), settle: settled },
  ]);
  expect(verdicts[0]?.verdict).toBe('ok');
  await checkCommitted(world, instanceId);
  return null;
}

/** Forks the run at a block, as the engine does it. Answers a world around the fork, or why there is none. */
export async function forkNow(world: World, at: ResumeAt): Promise<World | string> {
  const history = await world.store.getHistory(null, world.rootId);
  if (history === null) throw new Error('there is nothing to fork');
  const source = history.instance;
  const id = world.newId();
  const runNo = source.runNo + 1;
  const draft = new Draft({
    plan: await world.planOf(source.sequenceId),
    env: world.envFor(),
    knowledge: new Knowledge({ hasHistory: true }),
    record: {
      ...source,
      id,
      runId: world.newId(),
      runNo,
      state: 'scheduled',
      rev: 1,
      cancelRequestedAt: null,
    },
    frames: [],
  });
  const { tenantId } = source;
  const key = { tenantId, instanceId: source.id };
  for (;;) {
    const forked = forkRun(
      draft,
      { state: source.state, rows: history.rows, frames: history.frames },
      { blockId: at.block, iteration: at.iteration ?? null, data: at.data ?? {}, edit: at.edit ?? null },
    );
    if (forked === 'needs_items') {
      const needs = draft.knowledge.takeNeeds();
      if (needs === null) throw new Error('nothing is needed after all');
      await readNeeds(world.store, draft, needs, key);
      continue;
    }
    if (!forked.ok) return forked.error.reason;
    const { copied, rows, frames } = forked.value;
    const made = await world.store.fork({
      source: key,
      instance: newInstance({ id, sequenceId: source.sequenceId, data: draft.record.data }),
      runNo,
      copied: copied.map((row) => ({ ...row, copyId: world.newId() })),
      rows,
      frames,
      stateAtRev: source.rev,
      signals: [],
      journal: [],
    });
    expect(made).toBe('created');
    await checkCommitted(world, id);
    return Object.create(world, { rootId: { value: id } }) as World;
  }
}
