import { ok } from '../core/result.ts';
import { refuse } from '../engine/refusal.ts';
import type { Activity, Follower, Topic } from '../engine/streams/activity.ts';
import type { ServerEvent } from '../engine/streams/server-event.ts';
import type { Answer } from './reply.ts';

interface StreamDeps {
  readonly activity: Activity;
  readonly streams: { count: number };
  readonly settings: { readonly maxStreams: number };
}

/**
 * Answers with the events of something that is followed, or refuses when there are as many streams as there may be.
 *
 * @param refusal What the limit is called on this path: 503 or 429 (http-api.md 5.6 and 22).
 */
export function streamAnswer(
  deps: StreamDeps,
  topic: Topic,
  refusal: 'unavailable' | 'rate_limited',
  events: (follower: Follower) => AsyncGenerator<ServerEvent>,
): Answer {
  if (deps.streams.count >= deps.settings.maxStreams) {
    return refuse(refusal, 'too many event streams are open', {
      code: 'too_many_streams',
      retryAfterSecs: 5,
    });
  }
  deps.streams.count += 1;
  const follower = deps.activity.follow(topic);
  return ok({
    status: 200,
    events: {
      events: events(follower),
      close: () => {
        deps.streams.count -= 1;
        follower.close();
      },
    },
  });
}
