import { Draft } from '../../../src/core/run/draft.ts';
import { Knowledge } from '../../../src/core/run/knowledge.ts';
import type { Plan } from '../../../src/core/run/plan.ts';
import { createDefinitions, type Definitions } from '../../../src/engine/definitions.ts';
import { readShape } from '../../../src/engine/read-shape.ts';
import type { Claim } from '../../../src/ports/store/turn.ts';
import type { World } from './world.ts';

const known = new WeakMap<World, Definitions>();

function definitionsOf(world: World): Definitions {
  const definitions = known.get(world) ?? createDefinitions(world.store);
  known.set(world, definitions);
  return definitions;
}

/** The plan that the frames of an instance are of, with what was injected into it. */
export async function planFor(world: World, instance: Claim['instance']): Promise<Plan> {
  const plan = await definitionsOf(world).planOf(instance);
  if (plan === null) throw new Error(`there is no definition ${instance.sequenceId}`);
  return plan;
}

/** The working copy of a claimed instance, with the changes that wait for it. */
export async function claimedDraft(world: World, claim: Claim): Promise<Draft> {
  const shape = await readShape({ definitions: definitionsOf(world), store: world.store }, claim.instance);
  if (shape === null) throw new Error(`there is no definition ${claim.instance.sequenceId}`);
  const draft = new Draft({
    plan: shape.plan,
    env: world.envFor(),
    knowledge: new Knowledge({ hasHistory: claim.instance.hasHistory }),
    record: claim.instance,
    frames: claim.frames,
  });
  draft.ensureRoot();
  draft.shape.pending = shape.pending;
  return draft;
}
