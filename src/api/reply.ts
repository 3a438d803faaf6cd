import type { Result } from '../core/result.ts';
import type { OnceAnswer } from '../engine/idempotency/perform-once.ts';
import type { Refusal } from '../engine/refusal.ts';
import type { ServerEvent } from '../engine/streams/server-event.ts';

export interface Reply {
  readonly status: 200 | 201 | 202 | 204 | 503;
  /** Absent: an empty body. */
  readonly body?: unknown;
  /** Text that is sent as it is, with its media type, instead of a JSON body. */
  readonly text?: { readonly type: string; readonly content: string };
  /** Bytes that are sent as they are, with all the headers they need. */
  readonly bytes?: { readonly content: Uint8Array; readonly headers: Readonly<Record<string, string>> };
  /** Server-sent events instead of a body, as long as there are any or until the peer or the host ends the answer. */
  readonly events?: EventSource;
}

/** Events of one answer. `close` is called once, when nobody reads any more; `events` then ends. */
export interface EventSource {
  readonly events: AsyncIterator<ServerEvent>;
  readonly close: () => void;
}

/** The answer of a request with an Idempotency-Key, as it is kept: the same bytes for each repeat. */
export interface KeptReply {
  readonly once: OnceAnswer;
}

export type Answer = Result<Reply, Refusal>;
