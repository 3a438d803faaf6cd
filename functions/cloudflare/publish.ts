import { withinTime } from '../../src/core/within-time.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { type DraftOutcome, publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { ObjectWaker } from '../../src/adapters/cloudflare/object-waker.ts';
import { RESERVE_MS } from '../../src/engine/turn-budget.ts';
import { untilAnswered } from '../../src/engine/until-answered.ts';
import type { Log } from '../../src/ports/system.ts';
import type { Invocation } from './compose.ts';

/** Publishing what was published changes nothing, so it may be repeated. */
const TRIES_MAX = 5;
/**
 * How long one sequence is tried. A database that wakes up answers within a second or two; one that does not must not keep a
 * request from its answer, nor messages from their turns.
 */
const WITHIN_MS = 5_000;

/** Who remembers what was published, so that a new isolate need not ask the database; null: nobody. */
export type PublishedMemory = Pick<ObjectWaker, 'isPublished' | 'published'> | null;

type Publisher = Pick<Invocation, 'publishing' | 'engine' | 'remainingTimeMs'>;

/**
 * Publishes the sequences of this deployment unless that was done: the waker knows, or else the database. Never rejects, and
 * leaves the invocation half of its time: the next one goes on with what is left, and what is refused is told in the log once
 * per isolate. Isolates of an earlier version may come here at any time; the database lets the later one win
 * (docs/decisions/0019).
 */
export async function publishOnce(publisher: Publisher, memory: PublishedMemory): Promise<void> {
  const { publishing, engine } = publisher;
  if (publishing.isDone) return;
  try {
    if (memory === null || !(await memory.isPublished(publishing.deployedAt))) {
      await publishLeft(publisher);
      const outcomes = [...publishing.outcomes.values()];
      if (!outcomes.includes('refused')) await memory?.published(publishing.deployedAt);
    }
    publishing.isDone = true;
  } catch (error) {
    engine.deps.log.warn('the sequences of this deployment could not be published yet', {
      error: String(error),
    });
  }
}

async function publishLeft({ publishing, engine, remainingTimeMs }: Publisher): Promise<void> {
  const { clock } = engine.deps;
  const reserveMs = Math.max(RESERVE_MS, remainingTimeMs() / 2);
  for (const draft of publishing.drafts) {
    if (publishing.outcomes.has(draft)) continue;
    const limitMs = Math.min(WITHIN_MS, remainingTimeMs() - reserveMs);
    if (limitMs <= 0) throw new Error('there is no time left');
    let isOver = false;
    const work = publishOne({ publishing, engine }, draft, (tries) => !isOver && tries < TRIES_MAX);
    await withinTime(
      (delayMs, callback) => clock.after(delayMs, callback),
      limitMs,
      work,
      () => {
        isOver = true;
      },
    );
  }
}

/** What came of it is told and noted as soon as it is known, so that no later try hides it. */
async function publishOne(
  { publishing, engine: { deps } }: Pick<Publisher, 'publishing' | 'engine'>,
  draft: JsonObject,
  mayWait: (tries: number) => boolean,
): Promise<void> {
  const { tenantId, deployedAt, outcomes } = publishing;
  // A request that asks for a sequence of this deployment must not hear of none because the database was waking up.
  const publish = () => publishDrafts(deps, tenantId, [draft], deployedAt);
  for (const outcome of await untilAnswered(deps.clock, publish, mayWait)) {
    tell(deps.log, outcome);
    if (!outcomes.has(draft)) outcomes.set(draft, outcome.outcome);
  }
}

function tell(log: Log, { name, ...outcome }: DraftOutcome): void {
  switch (outcome.outcome) {
    case 'published':
      log.info('a sequence was published', { name, ...outcome });
      return;
    case 'superseded':
      log.warn('a sequence of a later deployment stays', { name });
      return;
    case 'refused':
      log.error('a sequence was not published', { name, ...outcome });
      return;
    case 'known':
  }
}
