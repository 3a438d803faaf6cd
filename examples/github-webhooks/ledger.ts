import * as z from 'zod';

/** One effect in the world, as the desk saw it. */
export const LedgerEntry = z.object({
  /** `<instance id>/<what>`. */
  effect: z.string(),
  path: z.string(),
  /** Idempotency keys under which it was asked for; more than one is a fault of the engine. */
  keys: z.array(z.string()),
  callCount: z.number(),
  /** How often the work was done. */
  doneCount: z.number(),
  /** The desk never does it, so that somebody has to catch the failure. */
  hopeless: z.boolean(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;
export const Ledger = z.array(LedgerEntry);

/** What the desk's process tells the example, one JSON object per line. */
export const DeskLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), url: z.string() }),
  /** A call came in; nothing was done yet. */
  z.object({ type: z.literal('arrival') }),
  z.object({
    type: z.literal('call'),
    path: z.string(),
    effect: z.string(),
    callNo: z.number(),
    status: z.number(),
    repeated: z.boolean(),
  }),
]);
export type DeskLine = z.infer<typeof DeskLine>;
