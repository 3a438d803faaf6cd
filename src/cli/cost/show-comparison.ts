import { wrapped } from '../terminal.ts';
import { HOURS } from './awake.ts';
import type { Estimate } from './estimate.ts';
import { amountText, dollarsText } from './figures.ts';
import { showAssumptions, type Shown } from './show-assumptions.ts';
import { HOST_NAMES, workloadText } from './show-estimate.ts';
import type { UseGroup } from './usage.ts';

const GROUPS: readonly (readonly [UseGroup, string])[] = [
  ['functions', 'Functions'],
  ['queue', 'Queue'],
  ['wakes', 'Sweeps and wakes'],
  ['watching', 'Logs and alarms'],
  ['database', 'Database'],
];
const PRICE_HINT = 'Prices in US dollars, us-east-1; without --compare each is shown with where it was read.';
const LABEL = 22;
const COLUMN = 13;

/** Several estimates of one workload side by side, or one under the other where there is no room. */
export function showComparison(estimates: readonly Estimate[], shown: Shown): readonly string[] {
  const { columns, palette, workload } = shown;
  const { bold, dim } = palette;
  const hosts = [...new Set(estimates.map(({ host }) => host))];
  const isWide = columns >= LABEL + estimates.length * COLUMN;
  return [
    ...wrapped(workloadText(workload), columns).map(bold),
    '',
    ...(isWide ? table(estimates, shown) : list(estimates, shown)),
    '',
    ...notesOf(estimates, shown),
    ...showAssumptions(hosts, shown),
    '',
    ...wrapped(PRICE_HINT, columns).map(dim),
  ];
}

function table(estimates: readonly Estimate[], { palette }: Shown): readonly string[] {
  const { bold, dim, green } = palette;
  const least = Math.min(...estimates.map(({ month }) => month));
  const row = (label: string, cell: (estimate: Estimate) => string): string =>
    `  ${label.padEnd(LABEL - 2)}${estimates.map((one) => cell(one).padStart(COLUMN)).join('')}`;
  const months = estimates.map((one) => {
    const text = dollarsText(one.month).padStart(COLUMN);
    return one.month === least ? green(text) : text;
  });
  return [
    dim(row('', ({ host }) => HOST_NAMES[host])),
    dim(row('dollars a month', ({ mode }) => mode)),
    ...GROUPS.map(([group, label]) => row(label, (one) => dollarsText(groupDollars(one, group)))),
    bold(`  ${'This month'.padEnd(LABEL - 2)}${months.join('')}`),
    '',
    row('An idle month', ({ idleMonth }) => dollarsText(idleMonth)),
    row('A million steps more', ({ perMillionSteps }) =>
      perMillionSteps === null ? '' : dollarsText(perMillionSteps),
    ),
    dim(
      row('  without database', ({ perMillionWithoutCompute: dollars }) =>
        dollars === null ? '' : dollarsText(dollars),
      ),
    ),
    row('Database awake', ({ awakeHours }) => `${amountText(awakeHours)} h`),
    dim(row('  in an idle month', ({ idleAwakeHours }) => `${amountText(idleAwakeHours)} h`)),
    dim(`  of ${HOURS} hours`),
  ];
}

function list(estimates: readonly Estimate[], { palette }: Shown): readonly string[] {
  return estimates.flatMap((one) => [
    palette.bold(`${HOST_NAMES[one.host]}, ${one.mode}`),
    `  this month ${dollarsText(one.month)}, idle ${dollarsText(one.idleMonth)}`,
    palette.dim(`  database awake ${amountText(one.awakeHours)} of ${HOURS} h`),
  ]);
}

function groupDollars({ lines }: Estimate, group: UseGroup): number {
  return lines.reduce((sum, line) => (line.group === group ? sum + line.month.dollars : sum), 0);
}

/** What holds for several is said once. */
function notesOf(estimates: readonly Estimate[], { columns, palette }: Shown): readonly string[] {
  const notes = [...new Set(estimates.flatMap(({ notes: own }) => own))];
  const lines = notes.flatMap((note) =>
    wrapped(note, columns - 2).map((text, index) => `${index === 0 ? palette.yellow('!') : ' '} ${text}`),
  );
  return lines.length === 0 ? [] : [...lines, ''];
}
