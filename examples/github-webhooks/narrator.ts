import { createPalette, type Palette, printable, wantsColour } from '../../src/cli/terminal.ts';

/** Prints what happens, one line per event, with the time since the start. */
export interface Narrator {
  readonly palette: Palette;
  readonly say: (who: Speaker, text: string) => void;
  /** A line without a time. */
  readonly line: (text: string) => void;
}

export type Speaker = 'engine' | 'webhook' | 'desk' | 'person' | 'KILL' | 'run';

/** The story goes to standard output, or to standard error when that is for the JSON summary. */
export function createNarrator(toError: boolean): Narrator {
  const stream = toError ? process.stderr : process.stdout;
  const palette = createPalette(wantsColour(process.env, stream));
  // Whoever reads may stop (`… | head`); the example goes on and its exit code still tells.
  stream.on('error', () => {});
  const startedAt = performance.now();
  const line = (text: string): void => {
    stream.write(`${text}\n`);
  };
  return {
    palette,
    line,
    say: (who, text) => {
      const time = `${((performance.now() - startedAt) / 1000).toFixed(3).padStart(7)} s`;
      line(`${palette.dim(time)}  ${colourOf(who, palette)(who.padEnd(8))} ${text}`);
    },
  };
}

function colourOf(who: Speaker, palette: Palette): (text: string) => string {
  switch (who) {
    case 'engine':
      return palette.blue;
    case 'webhook':
      return palette.cyan;
    case 'desk':
      return palette.dim;
    case 'person':
      return palette.magenta;
    case 'KILL':
      return (text) => palette.bold(palette.red(text));
    case 'run':
      return palette.green;
    default:
      return who satisfies never;
  }
}

/** The last part of an id is random, so it tells runs apart in a narrow column. */
export function shortId(id: string): string {
  return printable(id).slice(-6);
}
