import { type DraftOutcome, publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { ObjectWaker } from '../../src/adapters/cloudflare/object-waker.ts';
import { untilAnswered } from '../../src/engine/until-answered.ts';
import type { Log } from '../../src/ports/system.ts';
import type { Invocation } from './compose.ts';

/** Publishing what was published changes nothing, so it may be repeated. Together some 300 ms. */
const TRIES_MAX = 5;

/** Who remembers what was published, so that a new isolate need not ask the database; null: nobody. */
export type PublishedMemory = Pick<ObjectWaker, 'isPublished' | 'published'> | null;

/**
 * Publishes the sequences of this deployment unless that was done: the waker knows, or else the database. Never rejects: the
 * next invocation tries again, and what is refused is told in the log once per isolate. Isolates of an earlier version may
 * come here at any time; the database lets the later one win (docs/decisions/0019).
 */
export async function publishOnce(
  { publishing, engine }: Pick<Invocation, 'publishing' | 'engine'>,
  memory: PublishedMemory,
): Promise<void> {
  const { log } = engine.deps;
  if (publishing.isDone) return;
  const { tenantId, drafts, deployedAt } = publishing;
  try {
    if (memory === null || !(await memory.isPublished(deployedAt))) {
      // A request that asks for a sequence of this deployment must not hear of none because the database was waking up.
      const publish = () => publishDrafts(engine.deps, tenantId, drafts, deployedAt);
      const outcomes = await untilAnswered(engine.deps.clock, publish, (attempts) => attempts < TRIES_MAX);
      for (const outcome of outcomes) tell(log, outcome);
      if (outcomes.every(({ outcome }) => outcome !== 'refused')) await memory?.published(deployedAt);
    }
    publishing.isDone = true;
  } catch (error) {
    log.warn('the sequences of this deployment could not be published yet', { error: String(error) });
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
