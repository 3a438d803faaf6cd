import type { Json } from '../../../src/core/json.ts';
import type { TreeNode } from '../../../src/core/run/tree.ts';
import { injectBlocks, type Injected } from '../../../src/engine/inject-blocks.ts';
import { migrateInstance, type Migrated, previewMigration } from '../../../src/engine/migrate-instance.ts';
import { readTree } from '../../../src/engine/read-tree.ts';
import { verifyInstance } from '../../../src/engine/verify-instance.ts';
import type { EngineProcess } from './engine-process.ts';
import { TENANT, type TestEngine } from './test-engine.ts';

const CALLER = { tenantId: TENANT, isAdmin: false };

function useCasesOf(world: TestEngine, on?: EngineProcess): EngineProcess['useCases'] {
  const process = on ?? world.live;
  if (process === undefined) throw new Error('no process is alive');
  return process.useCases;
}

/** Injects blocks as the API does; time passes until it has answered. */
export function inject(
  world: TestEngine,
  instanceId: string,
  blocks: Json,
  position: number | null = null,
): Promise<Awaited<ReturnType<typeof injectBlocks>>> {
  return world.answered(injectBlocks(useCasesOf(world), CALLER, { instanceId, blocks, position }), 60_000);
}

/** The same, for blocks that must be accepted. */
export async function injected(
  world: TestEngine,
  instanceId: string,
  blocks: Json,
  position: number | null = null,
): Promise<Injected> {
  const answer = await inject(world, instanceId, blocks, position);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

export function migrate(
  world: TestEngine,
  instanceId: string,
  targetSequenceId: string,
): Promise<Awaited<ReturnType<typeof migrateInstance>>> {
  return world.answered(migrateInstance(useCasesOf(world), CALLER, { instanceId, targetSequenceId }), 60_000);
}

export async function migrated(world: TestEngine, instanceId: string, target: string): Promise<Migrated> {
  const answer = await migrate(world, instanceId, target);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

export function preview(
  world: TestEngine,
  instanceId: string,
  targetSequenceId: string,
): Promise<Awaited<ReturnType<typeof previewMigration>>> {
  return world.answered(
    previewMigration(useCasesOf(world), CALLER, { instanceId, targetSequenceId }),
    60_000,
  );
}

export async function nodesOf(world: TestEngine, instanceId: string): Promise<readonly TreeNode[]> {
  const { definitions } = useCasesOf(world);
  return (await readTree({ store: world.store, definitions }, TENANT, instanceId)) ?? [];
}

/** State of each node by block; a wait with its reason: `waiting:worker`. */
export async function treeOf(
  world: TestEngine,
  instanceId: string,
): Promise<Readonly<Record<string, string>>> {
  const nodes = await nodesOf(world, instanceId);
  return Object.fromEntries(
    nodes.map(({ blockId, state, reason }) => [blockId, reason === null ? state : `${state}:${reason}`]),
  );
}

/** Blocks in the order in which their handlers were called, all of one instance. */
export function calledBlocks(world: TestEngine, instanceId: string): readonly string[] {
  return world.ledger.entries
    .filter((entry) => entry.instanceId === instanceId)
    .map(({ blockId, iteration }) => (iteration === '' ? blockId : `${blockId}@${iteration}`));
}

/** What is stored of a run and does not follow from its rows, in words. */
export async function verified(world: TestEngine, instanceId: string): Promise<readonly string[]> {
  const answer = await verifyInstance(useCasesOf(world), CALLER, instanceId);
  if (!answer.ok) throw new Error(answer.error.kind);
  return answer.value;
}
