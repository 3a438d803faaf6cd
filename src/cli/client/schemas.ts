import * as z from 'zod';

/** What the client commands read of the server's answers (http-api.md 5); members they do not show are left alone. */
export const SequenceAnswer = z.looseObject({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  version: z.number(),
});

export type SequenceAnswer = z.infer<typeof SequenceAnswer>;

export const PublishAnswer = z.looseObject({
  id: z.string(),
  warnings: z.array(z.unknown()).optional(),
});

export const StartAnswer = z.looseObject({ id: z.string(), deduplicated: z.boolean().optional() });

export const SignalAnswer = z.looseObject({ signal_id: z.string() });

export const InstanceAnswer = z.looseObject({
  id: z.string(),
  sequence_id: z.string(),
  state: z.string(),
  next_fire_at: z.string().nullish(),
  context: z.looseObject({ data: z.unknown() }),
  metadata: z.unknown(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type InstanceAnswer = z.infer<typeof InstanceAnswer>;

export const TreeNodeAnswer = z.looseObject({
  id: z.string(),
  block_id: z.string(),
  parent_id: z.string().nullable(),
  block_type: z.string(),
  branch_index: z.number().nullable(),
  state: z.string(),
  started_at: z.string().nullable(),
  completed_at: z.string().nullable(),
  reason: z.string().nullish(),
  wake_at: z.string().nullish(),
  attempt: z.number().nullish(),
  iteration: z.string().nullish(),
  error: z.unknown().optional(),
});
export type TreeNodeAnswer = z.infer<typeof TreeNodeAnswer>;

export const TreeAnswer = z.array(TreeNodeAnswer);
