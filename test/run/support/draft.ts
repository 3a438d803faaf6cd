import { advance, beginCall } from '../../../src/core/run/advance.ts';
import { Draft } from '../../../src/core/run/draft.ts';
import type { Frame } from '../../../src/core/run/frame.ts';
import { Knowledge } from '../../../src/core/run/knowledge.ts';
import type { Claim } from '../../../src/ports/store/turn.ts';
import type { Scenario } from './script.ts';
import { LEASE_MS, createWorld } from './world.ts';

/** The draft that a process finds after another one died right after it had stored its first intents. */
export async function draftOf(
  scenario: Scenario,
  stored: (frames: readonly Frame[]) => readonly Frame[],
): Promise<Draft> {
  const world = await createWorld(scenario, 'none');
  const answer = await world.store.claimOne({
    tenantId: null,
    instanceId: world.rootId,
    leaseToken: world.newId(),
    leaseOwner: 'p-1',
    leaseMs: LEASE_MS,
    mode: 'hint',
  });
  if (answer.status !== 'claimed') throw new Error('there is nothing to claim');
  const plan = await world.planOf(answer.claim.instance.sequenceId);
  const make = (record: Claim['instance'], frames: readonly Frame[]): Draft => {
    const knowledge = new Knowledge({ hasHistory: record.hasHistory });
    return new Draft({ plan, env: world.envFor(), knowledge, record, frames });
  };
  const first = make(answer.claim.instance, []);
  first.ensureRoot();
  advance(first, { room: 32, mayRun: true });
  for (const dispatch of first.ready) beginCall(first, dispatch);
  const { frames } = first.takeChanges();
  const draft = make(first.record, stored(frames.map(({ frame, intent }) => intent ?? frame)));
  draft.ensureRoot();
  return draft;
}
