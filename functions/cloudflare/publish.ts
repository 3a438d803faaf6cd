import { digestOfDrafts, publishDrafts } from '../../src/engine/publish-drafts.ts';
import type { Invocation } from './compose.ts';

/**
 * Publishes the sequences of this deployment unless that was done: the waker knows, or else the database. Never rejects: the
 * next invocation tries again, and what is refused is told in the log once per isolate.
 */
export async function publishOnce({ isolate, engine, waker }: Invocation): Promise<void> {
  const { publishing } = isolate;
  const { log } = engine.deps;
  if (publishing.isDone || publishing.drafts.length === 0) return;
  const digest = digestOfDrafts(publishing.tenantId, publishing.drafts);
  try {
    if (waker === null || !(await waker.isPublished(digest))) {
      const outcomes = await publishDrafts(engine.deps, publishing.tenantId, publishing.drafts);
      for (const { name, ...outcome } of outcomes) {
        if (outcome.outcome === 'refused') log.error('a sequence was not published', { name, ...outcome });
        if (outcome.outcome === 'published') log.info('a sequence was published', { name, ...outcome });
      }
      if (outcomes.every(({ outcome }) => outcome !== 'refused')) await waker?.published(digest);
    }
    publishing.isDone = true;
  } catch (error) {
    log.warn('the sequences of this deployment could not be published yet', { error: String(error) });
  }
}
