import { jsonText } from './answer-limit.ts';
import type { KeptReply, Reply } from './reply.ts';

/** An answer as it goes out. */
export interface AnswerContent {
  readonly status: number;
  /** The body; undefined: there is none. null: it is too large to be written. */
  readonly content: string | Uint8Array | null | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON body that was made for this request. */
  readonly isOwnJson: boolean;
  /** Hosts that carry answers in a JSON text take it for text. */
  readonly isText: boolean;
}

const JSON_TYPE = 'application/json';
const TEXT = /^(?:text\/(?:plain|html|css|javascript|csv)|application\/json)\s*(?:;|$)/;
/** A text may be a caller's own: no browser is to take it for anything else. */
const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };

export function contentOf(reply: Reply | KeptReply): AnswerContent {
  if ('once' in reply) return keptContent(reply);
  const { status, text, bytes, body } = reply;
  if (text !== undefined) {
    const headers = { 'content-type': text.type, ...NO_SNIFFING };
    return { status, content: text.content, headers, isOwnJson: false, isText: TEXT.test(text.type) };
  }
  if (bytes !== undefined) {
    return { status, content: bytes.content, headers: bytes.headers, isOwnJson: false, isText: false };
  }
  if (body === undefined) return { status, content: undefined, headers: {}, isOwnJson: false, isText: true };
  const headers = { 'content-type': JSON_TYPE };
  return { status, content: jsonText(body), headers, isOwnJson: true, isText: true };
}

function keptContent({ once }: KeptReply): AnswerContent {
  const { status, type, body } = once.answer;
  const headers = {
    ...(type === null ? {} : { 'content-type': type }),
    ...(type === null || type === JSON_TYPE ? {} : NO_SNIFFING),
    ...(once.isRepeat ? { 'idempotency-replayed': 'true' } : {}),
  };
  return { status, content: body ?? undefined, headers, isOwnJson: false, isText: TEXT.test(type ?? '') };
}
