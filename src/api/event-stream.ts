import type { ServerEvent } from '../engine/streams/server-event.ts';
import type { Clock } from '../ports/system.ts';
import type { EventSource } from './reply.ts';

/** Keeps proxies from taking a quiet stream for a dead one (http-api.md 5.6). */
const COMMENT_EVERY_MS = 15_000;
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export interface EventStreamOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** HEAD is told the head alone; who has gone reads nothing. Neither holds a place among the streams. */
  readonly request: Pick<Request, 'method' | 'signal'>;
  /** The server ends the answer after this time and the client comes back (RULINGS B17); null: never. */
  readonly maxMs: number | null;
  /** Told of an error that ended the stream early. */
  readonly onError: (error: unknown) => void;
}

/**
 * An answer of server-sent events. The next event is asked for only when the peer has taken the one before, so a slow
 * reader holds nothing but its own stream.
 */
export function eventStream({ events, close }: EventSource, options: EventStreamOptions): Response {
  const encoder = new TextEncoder();
  const { clock, maxMs, request } = options;
  if (request.method === 'HEAD' || request.signal.aborted) {
    close();
    return new Response(null, { headers: HEADERS });
  }
  const state: { next: Promise<IteratorResult<ServerEvent>> | null; ended: boolean } = {
    next: null,
    ended: false,
  };
  const end = (): void => {
    if (state.ended) return;
    state.ended = true;
    cancelEnd();
    request.signal.removeEventListener('abort', end);
    close();
  };
  const cancelEnd = maxMs === null ? () => {} : clock.after(maxMs, end);
  // A body that nobody has begun to read is never cancelled: the host drops it when its peer went before the first byte.
  request.signal.addEventListener('abort', end);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        state.next ??= events.next();
        const result = await orComment(clock, state.next);
        if (result === null) {
          controller.enqueue(encoder.encode(': still here\n\n'));
          return;
        }
        state.next = null;
        if (result.done !== true && !state.ended) {
          controller.enqueue(encoder.encode(eventText(result.value)));
          return;
        }
      } catch (error) {
        options.onError(error);
      }
      end();
      controller.close();
    },
    cancel: end,
  });
  return new Response(body, { headers: HEADERS });
}

/** The next event, or null when it is time for a comment. */
function orComment<T>(clock: Pick<Clock, 'after'>, next: Promise<T>): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(COMMENT_EVERY_MS, () => resolve(null));
    next.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** JSON has no line breaks of its own, so one `data:` line is enough. */
function eventText({ event, id, data }: ServerEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
