import * as z from 'zod';
// In a project of your own: import { defineHandler, StepError } from 'stepwell';
import { defineHandler, StepError } from '../../src/sdk/index.ts';

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

const Summary = z.object({ kind: z.enum(['issue', 'pull_request', 'push', 'other']), subject: z.string() });

/** Tells the kinds of events apart by what is in them, as the body of a webhook does not name its event. */
export const summariseEvent = defineHandler(
  'summarise_event',
  { input: z.object({ event: Event }), output: Summary, pure: true },
  ({ event }) => {
    const repository = event.repository?.full_name ?? 'a repository';
    if (event.issue !== undefined && event.action === 'opened') {
      return { kind: 'issue', subject: `${repository}#${event.issue.number}: ${event.issue.title}` };
    }
    if (event.pull_request !== undefined && wantsReview(event)) {
      const { number, title } = event.pull_request;
      return { kind: 'pull_request', subject: `${repository}#${number}: ${title}` };
    }
    if (event.commits !== undefined) {
      return { kind: 'push', subject: `${event.commits.length} commits on ${event.ref} of ${repository}` };
    }
    return { kind: 'other', subject: `${event.action ?? 'something'} in ${repository}` };
  },
);

function wantsReview(event: Event): boolean {
  return ['opened', 'reopened', 'ready_for_review', 'synchronize'].includes(event.action ?? '');
}

/**
 * An effect in the world from code of our own. It may be called more than once for one step, after a crash for instance:
 * the idempotency key is the same each time, and the desk does the work only once.
 */
export const announce = defineHandler(
  'announce',
  {
    input: z.object({ desk: z.string(), effect: z.string(), text: z.string() }),
    output: z.object({ announced: z.string() }),
    retry: { max_attempts: 6, initial_backoff: 50, max_backoff: 400, backoff_multiplier: 2 },
    timeout: 5000,
  },
  async ({ desk, effect, text }, ctx) => {
    if (ctx.redelivery) ctx.log.warn('this attempt may have run before; asking again with the same key');
    const response = await fetch(`${desk}/announcements`, {
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
      throw new StepError(`the desk said ${response.status}`, {
        retryable: response.status >= 500,
        code: 'DESK_ERROR',
      });
    }
    ctx.log.info(`announced on try ${ctx.attempt + 1}`);
    return { announced: text };
  },
);
