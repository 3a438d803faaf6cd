import * as z from 'zod';
import { MAX_DOCUMENT_JSON_DEPTH } from '../../core/definition/bounds.ts';
import {
  addCheckpoint,
  latestCheckpoint,
  listCheckpoints,
  pruneCheckpoints,
} from '../../engine/checkpoints.ts';
import { injectBlocks } from '../../engine/inject-blocks.ts';
import { migrateInstance, previewMigration } from '../../engine/migrate-instance.ts';
import { refuse } from '../../engine/refusal.ts';
import { created, defineBodyRoute, defineRoute, okay } from '../route.ts';
import {
  CheckpointAdded,
  CheckpointBody,
  CheckpointInput,
  CheckpointList,
  InjectBody,
  InjectedBody,
  MigrateBody,
  MigratedBody,
  PreviewBody,
  PruneBody,
  Pruned,
  showCheckpoint,
  showPreview,
} from '../schemas/shape.ts';
import { IdPath, limitParameter, NoParameters } from '../schemas/wire-values.ts';

/** The most checkpoints of one answer. */
const MAX_CHECKPOINTS = 100;

const inject = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/inject-blocks',
  tag: 'instance actions',
  summary: 'Inject blocks into the root list of an instance',
  params: IdPath,
  query: NoParameters,
  body: InjectBody,
  bodyDepth: MAX_DOCUMENT_JSON_DEPTH,
  responses: { 200: InjectedBody },
  handle: async (deps, { caller, path, body }) => {
    const { blocks, position } = body;
    if (position !== null && position < 0) {
      return refuse('invalid_argument', 'position must not be negative');
    }
    const injected = await injectBlocks(deps, caller, { instanceId: path.id, blocks, position });
    if (!injected.ok) return injected;
    const { blockIds, total } = injected.value;
    return okay({ injected_block_ids: [...blockIds], position, total_injected: total });
  },
});

const migrate = defineBodyRoute({
  method: 'POST',
  path: '/sequences/migrate-instance',
  tag: 'sequences',
  summary: 'Move an instance to another version or sequence',
  params: NoParameters,
  query: NoParameters,
  body: MigrateBody,
  responses: { 200: MigratedBody },
  handle: async (deps, { caller, body }) => {
    const { instance_id: instanceId, target_sequence_id: targetSequenceId } = body;
    const migrated = await migrateInstance(deps, caller, { instanceId, targetSequenceId });
    if (!migrated.ok) return migrated;
    return okay({
      migrated: true,
      instance_id: instanceId,
      from_sequence_id: migrated.value.fromSequenceId,
      to_sequence_id: targetSequenceId,
      pending: !migrated.value.isApplied,
    });
  },
});

const preview = defineBodyRoute({
  method: 'POST',
  path: '/sequences/migrate-instance/preview',
  tag: 'sequences',
  summary: 'What a move would keep, drop and bring',
  params: NoParameters,
  query: NoParameters,
  body: MigrateBody,
  responses: { 200: PreviewBody },
  handle: async (deps, { caller, body }) => {
    const { instance_id: instanceId, target_sequence_id: targetSequenceId } = body;
    const previewed = await previewMigration(deps, caller, { instanceId, targetSequenceId });
    if (!previewed.ok) return previewed;
    const { preview: shown, fromSequenceId } = previewed.value;
    const ids = { instance_id: instanceId, from_sequence_id: fromSequenceId };
    return okay(showPreview(shown, { ...ids, to_sequence_id: targetSequenceId }));
  },
});

const add = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/checkpoints',
  tag: 'checkpoints',
  summary: 'Store a checkpoint',
  params: IdPath,
  query: NoParameters,
  body: CheckpointInput,
  responses: { 201: CheckpointAdded },
  handle: async (deps, { caller, path, body }) => {
    const added = await addCheckpoint(deps, caller, path.id, body.checkpoint_data);
    return added.ok ? created({ id: added.value }) : added;
  },
});

const list = defineRoute({
  method: 'GET',
  path: '/instances/{id}/checkpoints',
  tag: 'checkpoints',
  summary: 'The newest checkpoints, newest first',
  params: IdPath,
  query: z.object({ limit: limitParameter(MAX_CHECKPOINTS, MAX_CHECKPOINTS) }),
  responses: { 200: CheckpointList },
  handle: async (deps, { caller, path, filter }) => {
    const listed = await listCheckpoints(deps, caller, path.id, filter.limit);
    return listed.ok ? okay(listed.value.map(showCheckpoint)) : listed;
  },
});

const latest = defineRoute({
  method: 'GET',
  path: '/instances/{id}/checkpoints/latest',
  tag: 'checkpoints',
  summary: 'The newest checkpoint',
  params: IdPath,
  query: NoParameters,
  responses: { 200: CheckpointBody },
  handle: async (deps, { caller, path }) => {
    const found = await latestCheckpoint(deps, caller, path.id);
    return found.ok ? okay(showCheckpoint(found.value)) : found;
  },
});

const prune = defineBodyRoute({
  method: 'POST',
  path: '/instances/{id}/checkpoints/prune',
  tag: 'checkpoints',
  summary: 'Remove all but the newest checkpoints',
  params: IdPath,
  query: NoParameters,
  body: PruneBody,
  responses: { 200: Pruned },
  handle: async (deps, { caller, path, body }) => {
    const pruned = await pruneCheckpoints(deps, caller, path.id, body.keep);
    return pruned.ok ? okay({ count: pruned.value }) : pruned;
  },
});

export const instanceShapeRoutes = [inject, migrate, preview, add, list, latest, prune];
