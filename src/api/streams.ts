import { ok } from '../core/result.ts';
import { refuse } from '../engine/refusal.ts';
import type { Activity, Follower, Topic } from '../engine/streams/activity.ts';
import type { ServerEvent } from '../engine/streams/server-event.ts';
import type { Clock } from '../ports/system.ts';
import type { Answer } from './reply.ts';

/** A stream that was opened and not closed. */
export interface OpenStream {
  /** On the monotonic clock; null: it has no end of its own. */
  readonly endsAtMs: number | null;
}

interface StreamDeps {
  readonly activity: Activity;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly streams: Set<OpenStream>;
  readonly settings: { readonly maxStreams: number; readonly streamMaxMs: number | null };
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
  const { streams } = deps;
  const { maxStreams, streamMaxMs } = deps.settings;
  const nowMs = deps.clock.monotonicMs();
  // A host may stop a request, and its stream with it, without a word: none counts for longer than it may last.
  for (const open of streams) if (open.endsAtMs !== null && open.endsAtMs <= nowMs) streams.delete(open);
  if (streams.size >= maxStreams) {
    return refuse(refusal, 'too many event streams are open', {
      code: 'too_many_streams',
      retryAfterSecs: 5,
    });
  }
  const stream: OpenStream = { endsAtMs: streamMaxMs === null ? null : nowMs + streamMaxMs };
  streams.add(stream);
  const follower = deps.activity.follow(topic);
  return ok({
    status: 200,
    events: {
      events: events(follower),
      close: () => {
        streams.delete(stream);
        follower.close();
      },
    },
  });
}
