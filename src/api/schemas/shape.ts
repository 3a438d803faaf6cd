import * as z from 'zod';
import type { MigrationPreview } from '../../core/run/reshape/preview.ts';
import type { Checkpoint } from '../../ports/store/shape.ts';
import { JsonValue, optional, Timestamp, timestamp, Uuid } from './wire-values.ts';

/** Body of `POST /instances/{id}/inject-blocks`. The blocks are judged like those of a publish, with 400 for all of it. */
export const InjectBody = z.object({ blocks: JsonValue, position: optional(z.int()) });

export const InjectedBody = z.object({
  injected_block_ids: z.array(z.string()),
  position: z.int().nullable(),
  total_injected: z.int(),
});

/** Body of `POST /sequences/migrate-instance`, and of its preview. */
export const MigrateBody = z.object({ instance_id: Uuid, target_sequence_id: Uuid });

export const MigratedBody = z.object({
  migrated: z.literal(true),
  instance_id: Uuid,
  from_sequence_id: Uuid,
  to_sequence_id: Uuid,
  /** True while handlers of the present turn run: it takes effect when these have ended. */
  pending: z.boolean(),
});

const PreviewedBlock = z.object({
  block_id: z.string(),
  block_type: z.string(),
  state: z.string(),
  reason: z.string(),
});

export const PreviewBody = z.object({
  instance_id: Uuid,
  from_sequence_id: Uuid,
  to_sequence_id: Uuid,
  /** False: `refusals` says why the run cannot be moved from where it stands. */
  possible: z.boolean(),
  refusals: z.array(z.object({ block_id: z.string(), reason: z.string() })),
  kept: z.array(PreviewedBlock),
  /** `cancels`: what hangs on the block and ends with it. */
  dropped: z.array(
    PreviewedBlock.extend({
      cancels: z.enum(['call', 'wait', 'worker_task', 'child', 'gate']).nullable(),
    }),
  ),
  new: z.array(PreviewedBlock),
  /** `replaced`: injected blocks that give way to blocks of the target with their ids. */
  injected: z.object({ carried: z.array(z.string()), replaced: z.array(z.string()) }),
});
export type PreviewBody = z.infer<typeof PreviewBody>;

export function showPreview(
  preview: MigrationPreview,
  ids: Pick<PreviewBody, 'instance_id' | 'from_sequence_id' | 'to_sequence_id'>,
): PreviewBody {
  return {
    ...ids,
    possible: preview.refusals.length === 0,
    refusals: preview.refusals.map(({ blockId, reason }) => ({ block_id: blockId, reason })),
    kept: preview.kept.map(showBlock),
    dropped: preview.dropped.map((block) => ({ ...showBlock(block), cancels: block.cancels })),
    new: preview.added.map(showBlock),
    injected: { carried: [...preview.injected.carried], replaced: [...preview.injected.replaced] },
  };
}

function showBlock({ blockId, blockType, state, reason }: MigrationPreview['kept'][number]): {
  block_id: string;
  block_type: string;
  state: string;
  reason: string;
} {
  return { block_id: blockId, block_type: blockType, state, reason };
}

export const CheckpointInput = z.object({ checkpoint_data: JsonValue });

export const CheckpointBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  checkpoint_data: JsonValue,
  created_at: Timestamp,
});
export const CheckpointList = z.array(CheckpointBody);

export function showCheckpoint({
  id,
  instanceId,
  data,
  createdAt,
}: Checkpoint): z.infer<typeof CheckpointBody> {
  return { id, instance_id: instanceId, checkpoint_data: data, created_at: timestamp(createdAt) };
}

export const CheckpointAdded = z.object({ id: Uuid });
export const PruneBody = z.object({ keep: z.int() });
export const Pruned = z.object({ count: z.int() });
