import { isJsonArray, type Json } from '../json.ts';

/** What one `{{ … }}` of a traced value came to (http-api.md 4.3). */
export interface TraceEntry {
  /** Where its string stands in the traced value, `body.lines[0]`; empty for the value itself. */
  readonly paramPath: string;
  /** The text between the braces, without blanks around it. */
  readonly expression: string;
  /**
   * `missing`: no path led anywhere and no literal stood in; `null`: a path led to null. Filters may still have made
   * something of it, which `value` shows then.
   */
  readonly status: 'ok' | 'null' | 'missing' | 'redacted' | 'error';
  /** As far as it may be shown (4.5). Absent for an error, and for what is missing. */
  readonly value?: Json;
  /** The path that gave the value as it is spelled there, or `literal`. Absent when nothing gave one. */
  readonly source?: string;
  /** The value did not come from the first alternative. */
  readonly fallbackUsed: boolean;
  /** The template stands inside other text, so its value became text ([TPL-14]). */
  readonly coercedToString: boolean;
  readonly error?: string;
}

/** A traced value: what it resolves to, as far as that may be shown, or why it does not. */
export interface TemplateTrace {
  readonly resolved?: Json;
  readonly error?: string;
  readonly entries: readonly TraceEntry[];
}

/** The word of the contract for the type of a value. */
export function resultType(value: Json): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'string';
  return isJsonArray(value) ? 'array' : 'object';
}
