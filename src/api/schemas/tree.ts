import * as z from 'zod';
import { JsonValue, Timestamp, Uuid } from './common.ts';

/** The run-time position of one block (http-api.md 5.4, DESIGN 8). */
export const TreeNode = z.object({
  id: Uuid,
  instance_id: Uuid,
  block_id: z.string(),
  parent_id: Uuid.nullable(),
  block_type: z.string(),
  branch_index: z.int().nullable(),
  state: z.enum(['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']),
  started_at: Timestamp.nullable(),
  completed_at: Timestamp.nullable(),
  /** Place in the document, counted in document order. */
  position: z.int(),
  reason: z.string().nullable(),
  wake_at: Timestamp.nullable(),
  attempt: z.int(),
  iteration: z.string(),
  error: JsonValue,
  decision: JsonValue,
});
export type TreeNode = z.infer<typeof TreeNode>;
export const TreeBody = z.array(TreeNode);
