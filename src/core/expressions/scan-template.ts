/** A `{{ … }}` in a text: `start` is its first brace, `end` the index after its last one. */
export interface TemplateRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The templates of a text ([TPL-11]). A template closes at the first `}}` outside quotes; a `{{` that never closes is
 * literal text. Both scans together are linear, also for texts that open thousands of templates and close none.
 */
export function scanTemplates(text: string): readonly TemplateRange[] {
  const ranges: TemplateRange[] = [];
  let hopeless: Uint8Array | undefined;
  let open = text.indexOf('{{');
  while (open !== -1) {
    const inside = open + 2;
    const close = hopeless?.[inside] === 1 ? -1 : closeFrom(text, inside);
    if (close === -1) {
      hopeless ??= hopelessStarts(text);
      open = text.indexOf('{{', inside);
    } else {
      ranges.push({ start: open, end: close + 2 });
      open = text.indexOf('{{', close + 2);
    }
  }
  return ranges;
}

/** The index of the first `}}` outside quotes, or -1. */
function closeFrom(text: string, start: number): number {
  for (let index = start; index < text.length; index += 1) {
    if (isQuote(text.charAt(index))) index = endOfQuoted(text, index);
    else if (text.startsWith('}}', index)) return index;
  }
  return -1;
}

/**
 * Marks every index from which `closeFrom` finds nothing. Built from the right in one pass, once a first scan has
 * failed: repeating failed scans would make the whole quadratic.
 */
function hopelessStarts(text: string): Uint8Array {
  const marks = new Uint8Array(text.length + 1);
  const nextQuote = new Map<string, number>();
  marks[text.length] = 1;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const char = text.charAt(index);
    if (isQuote(char)) {
      const endQuote = nextQuote.get(char);
      marks[index] = endQuote === undefined ? 1 : Number(marks[endQuote + 1]);
      nextQuote.set(char, index);
    } else marks[index] = text.startsWith('}}', index) ? 0 : Number(marks[index + 1]);
  }
  return marks;
}

/** True for the two characters that quote. There are no escapes inside quotes. */
export function isQuote(char: string): boolean {
  return char === "'" || char === '"';
}

/** The index of the quote that closes the one at `index`, or the length of the text. */
export function endOfQuoted(text: string, index: number): number {
  const close = text.indexOf(text.charAt(index), index + 1);
  return close === -1 ? text.length : close;
}
