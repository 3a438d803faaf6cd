/** Colours of the terminal, or nothing where there are none. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly cyan: Paint;
  readonly magenta: Paint;
}

export type Paint = (text: string) => string;

const paint =
  (open: number, close: number, enabled: boolean): Paint =>
  (text) =>
    enabled ? `\u001B[${open}m${text}\u001B[${close}m` : text;

export function createPalette(enabled: boolean): Palette {
  return {
    bold: paint(1, 22, enabled),
    dim: paint(2, 22, enabled),
    red: paint(31, 39, enabled),
    green: paint(32, 39, enabled),
    yellow: paint(33, 39, enabled),
    blue: paint(34, 39, enabled),
    cyan: paint(36, 39, enabled),
    magenta: paint(35, 39, enabled),
  };
}

/** NO_COLOR and FORCE_COLOR as most programs read them; otherwise colours go to terminals only. */
export function wantsColour(
  environment: Readonly<Record<string, string | undefined>>,
  stream: { readonly isTTY?: boolean },
): boolean {
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((environment['NO_COLOR'] ?? '') !== '') return false;
  return stream.isTTY === true && environment['TERM'] !== 'dumb';
}

/** What a command writes to: results to standard output, everything else to standard error. */
export interface Terminal {
  readonly palette: Palette;
  readonly out: (line: string) => void;
  readonly note: (line: string) => void;
}

export function systemTerminal(): Terminal {
  return {
    palette: createPalette(wantsColour(process.env, process.stdout)),
    out: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
  };
}

/** Lines of at most `width` characters, broken between words; a word longer than a line stays whole. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** Text from documents and payloads must not steer the terminal: control characters are shown, not sent. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) =>
    char === '\n' ? ' ' : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
