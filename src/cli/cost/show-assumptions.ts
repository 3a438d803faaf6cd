import type { Palette } from '../terminal.ts';
import { wrapped } from '../terminal.ts';
import {
  ASSUMPTION_NAMES,
  ASSUMPTIONS,
  type AssumptionSource,
  DEFAULTS,
  flagOf,
  type Host,
} from './assumptions.ts';
import type { Given } from './read-flags.ts';

/** What an estimate is shown with. */
export interface Shown {
  readonly workload: Given;
  readonly columns: number;
  readonly palette: Palette;
}

const LEGEND =
  'Assumed; each is a flag. y: yours to say, c: counted in the code, m: measured (bench/README.md), p: a provider’s documentation, g: a guess.';
const CELL = 38;

/** All assumptions that matter for these hosts, in as many columns as there is room for; what was said stands out. */
export function showAssumptions(hosts: readonly Host[], shown: Shown): readonly string[] {
  const { columns, palette } = shown;
  const cells = cellsOf(hosts, shown);
  const across = Math.max(1, Math.floor(columns / CELL));
  const down = Math.ceil(cells.length / across);
  const rows = Array.from({ length: down }, (_, row) =>
    Array.from({ length: across }, (__, column) => cells[column * down + row]).filter(
      (cell) => cell !== undefined,
    ),
  );
  return [
    ...wrapped(LEGEND, columns).map(palette.dim),
    ...rows.map((row) =>
      row
        .map((cell) => `  ${cell.text}${' '.repeat(Math.max(0, CELL - 2 - cell.width))}`)
        .join('')
        .trimEnd(),
    ),
  ];
}

interface Cell {
  readonly text: string;
  readonly width: number;
}

function cellsOf(hosts: readonly Host[], { workload, palette }: Shown): readonly Cell[] {
  const { stepsPerTurn, arrival } = workload;
  const names = ASSUMPTION_NAMES.filter((name) => {
    const { host, arrival: only } = ASSUMPTIONS[name];
    return (host === undefined || hosts.includes(host)) && (only === undefined || only === arrival);
  });
  const numbers = names.map((name) => {
    const { unit, from } = ASSUMPTIONS[name];
    const isSaid = workload[name] !== DEFAULTS[name];
    return cell(
      { flag: flagOf(name), value: `${plain(workload[name])} ${unit}`.trim(), mark: MARKS[from], isSaid },
      palette,
    );
  });
  const perTurn = stepsPerTurn === null ? 'as many as fit' : plain(stepsPerTurn);
  return [
    cell({ flag: 'arrival', value: arrival, mark: MARKS.yours, isSaid: arrival !== 'spread' }, palette),
    ...numbers,
    cell(
      { flag: 'steps-per-turn', value: perTurn, mark: MARKS.code, isSaid: stepsPerTurn !== null },
      palette,
    ),
  ];
}

const MARKS: Readonly<Record<AssumptionSource, string>> = {
  yours: 'y',
  code: 'c',
  measured: 'm',
  provider: 'p',
  guess: 'g',
};

interface Said {
  readonly flag: string;
  readonly value: string;
  readonly mark: string;
  readonly isSaid: boolean;
}

function cell({ flag, value, mark, isSaid }: Said, { cyan, dim }: Palette): Cell {
  const name = `--${flag}`;
  return {
    text: isSaid ? `${cyan(`${name} ${value}`)} ${dim('y')}` : `${dim(name)} ${value} ${dim(mark)}`,
    width: name.length + value.length + 3,
  };
}

/** As the flag takes it: without separators. */
function plain(value: number): string {
  return String(value).replace('+', '');
}
