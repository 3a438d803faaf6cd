import { defineHandler, StepError } from 'stepwell/handler';
import * as z from 'zod';
import { DESK } from './desk.ts';

const named = z.looseObject({ title: z.string().optional(), number: z.number().optional() });
const Event = z.looseObject({
  action: z.string().optional(),
  issue: named.optional(),
  pull_request: named.optional(),
  commits: z.array(z.looseObject({ id: z.string() })).optional(),
  ref: z.string().optional(),
  repository: z.looseObject({ full_name: z.string() }).optional(),
});
type Event = z.infer<typeof Event>;

const REVIEWED_ACTIONS = new Set(['opened', 'reopened', 'ready_for_review', 'synchronize']);

/** Tells the kinds of events apart by what is in them. Pure: it has no effect outside. */
export const summariseEvent = defineHandler(
  'summarise_event',
  {
    input: z.object({ event: Event }),
    output: z.object({ kind: z.enum(['issue', 'pull_request', 'push', 'other']), subject: z.string() }),
    pure: true,
  },
  ({ event }) => {
    const { issue, pull_request: pull, commits, action = 'something' } = event;
    const where = event.repository?.full_name ?? 'a repository';
    if (issue !== undefined && action === 'opened') {
      return { kind: 'issue', subject: `${where}#${issue.number}: ${issue.title}` };
    }
    if (pull !== undefined && REVIEWED_ACTIONS.has(action)) {
      return { kind: 'pull_request', subject: `${where}#${pull.number}: ${pull.title}` };
    }
    if (commits !== undefined) {
      return { kind: 'push', subject: `${commits.length} commits on ${event.ref} of ${where}` };
    }
    return { kind: 'other', subject: `${action} in ${where}` };
  },
);

/** An effect in the world. It may be called again after a crash, with the same idempotency key each time. */
export const announce = defineHandler(
  'announce',
  {
    input: z.object({ effect: z.string(), text: z.string() }),
    output: z.object({ announced: z.string() }),
    retry: { max_attempts: 6, initial_backoff: 50, max_backoff: 400, backoff_multiplier: 2 },
    timeout: 5000,
  },
  async ({ effect, text }, ctx) => {
    const response = await fetch(`${DESK}/announcements`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': ctx.idempotencyKey,
        'x-effect': effect,
      },
      body: JSON.stringify({ text }),
      signal: ctx.signal,
    });
    if (!response.ok) {
      const retryable = response.status >= 500;
      throw new StepError(`the desk said ${response.status}`, { retryable, code: 'DESK_ERROR' });
    }
    return { announced: text };
  },
);
