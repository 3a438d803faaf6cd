import * as z from 'zod';

/** What the commands read of a stored sequence (the API gives it as the author wrote it, so it has no schema of ours). */
export const SequenceAnswer = z.looseObject({
  id: z.string(),
  name: z.string(),
  namespace: z.string(),
  version: z.number(),
});
export type SequenceAnswer = z.infer<typeof SequenceAnswer>;
