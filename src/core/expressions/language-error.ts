/**
 * Why a text could not be parsed or resolved. `message` names kind, path and position, never a value ([SEC-7]).
 * `position` is the offset in UTF-16 units from the beginning of the text, when there is one.
 */
export interface LanguageError {
  readonly message: string;
  readonly code: 'EXPRESSION_ERROR' | 'TEMPLATE_ERROR';
  readonly position?: number;
}

/** A place in a text and what is wrong there. */
export interface Fault {
  readonly message: string;
  readonly position?: number;
  /** JSON pointer of the string inside a resolved value; absent or empty for the value itself. */
  readonly pointer?: string;
}

/** The longest piece of a document that a message repeats. */
const QUOTE_LENGTH_MAX = 80;

/** A fault of an expression as the error that callers see. */
export function expressionError(fault: Fault): LanguageError {
  return languageError('EXPRESSION_ERROR', fault);
}

/** A fault of a template as the error that callers see. */
export function templateError(fault: Fault): LanguageError {
  return languageError('TEMPLATE_ERROR', fault);
}

function languageError(code: LanguageError['code'], { message, position, pointer }: Fault): LanguageError {
  const place = pointer === undefined || pointer === '' ? message : `${message} in ${quoteText(pointer)}`;
  if (position === undefined) return { message: place, code };
  return { message: `${place} at position ${position}`, code, position };
}

/** Document text in quotation marks, cut when it is long. */
export function quoteText(text: string): string {
  return text.length <= QUOTE_LENGTH_MAX ? `"${text}"` : `"${text.slice(0, QUOTE_LENGTH_MAX)}…"`;
}

/** One step of a JSON pointer. */
export function pointerStep(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
