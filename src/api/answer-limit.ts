/** What the host can pass on of one answer. */
export interface AnswerLimit {
  readonly maxBytes: number;
  /**
   * The host carries an answer in a JSON text of its own, as Lambda does: in a text quotes, backslashes and line ends count
   * twice there, and bytes by four thirds.
   */
  readonly isWrapped: boolean;
  /** What else a caller may do, on this host. */
  readonly advice?: string;
}

/** Where the host says nothing: what a process can hold some of at once. */
export const STANDARD_LIMIT: AnswerLimit = { maxBytes: 64 * 1024 * 1024, isWrapped: false };
/** What one read may bring into a process for an answer: several are made side by side, and take a few times as much in memory. */
const READ_MAX_BYTES = 16 * 1024 * 1024;
const PAGE_MAX_BYTES = 4 * 1024 * 1024;

/** The bytes that one read of the store may bring for an answer on this host. Not all that is read is shown. */
export function readBytes({ maxBytes }: AnswerLimit = STANDARD_LIMIT): number {
  return Math.min(2 * maxBytes, READ_MAX_BYTES);
}

/** The bytes at which a page ends that has a cursor. Its answer can be sent, also where all of it counts twice. */
export function pageBytes({ maxBytes }: AnswerLimit = STANDARD_LIMIT): number {
  return Math.min(Math.floor(maxBytes / 2), PAGE_MAX_BYTES);
}

/** The most bytes of one UTF-16 unit within a JSON text. */
const WRAPPED_UNIT_BYTES = 6;
const UNIT_BYTES = 3;
const QUOTES = 2;

/** The JSON text of a body; null when it is longer than any text can be. */
export function jsonText(body: unknown): string | null {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * The bytes of an answer that is too large for its host; undefined when it is not, null when it is larger than can be told.
 *
 * @param content null: as `jsonText`.
 * @param isText The host takes it for text, not for bytes.
 */
export function oversize(
  content: string | Uint8Array | null,
  isText: boolean,
  limit: AnswerLimit,
): number | null | undefined {
  const bytes = content === null ? null : bytesOf(content, isText, limit);
  return bytes !== null && bytes <= limit.maxBytes ? undefined : bytes;
}

/** Counted only where the length alone does not tell that it fits. */
function bytesOf(
  content: string | Uint8Array,
  isText: boolean,
  { isWrapped, maxBytes }: AnswerLimit,
): number {
  if (typeof content !== 'string') {
    return isWrapped ? 4 * Math.ceil(content.byteLength / 3) : content.byteLength;
  }
  const most = content.length * (isWrapped ? WRAPPED_UNIT_BYTES : UNIT_BYTES) + QUOTES;
  if (most <= maxBytes) return most;
  const encoder = new TextEncoder();
  if (!isWrapped) return encoder.encode(content).byteLength;
  const wrapped = jsonText(content);
  if (wrapped === null) return maxBytes + 1;
  return isText ? encoder.encode(wrapped).byteLength : 4 * Math.ceil(encoder.encode(content).byteLength / 3);
}
