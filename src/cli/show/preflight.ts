import type * as z from 'zod';
import type { PreflightBody } from '../../api/schemas/preflight.ts';
import { type Palette, printable } from '../terminal.ts';

type Preflight = z.infer<typeof PreflightBody>;
type Check = Preflight['checks'][number];

/** Findings of one check that are shown; `--json` shows all. */
const FINDINGS_SHOWN = 20;

/** Each check with what it found. */
export function describePreflight(
  { sequence_name: name, sequence_version: version, checks }: Preflight,
  palette: Palette,
): readonly string[] {
  const { bold, dim } = palette;
  return [
    `${bold(printable(name))} version ${version}`,
    ...checks.flatMap((check) => [
      `${signOf(check.status, palette)} ${printable(check.summary)} ${dim(check.id)}`,
      ...findingLines(check, palette),
    ]),
  ];
}

function findingLines({ findings = [] }: Check, { dim }: Palette): readonly string[] {
  const lines = findings
    .slice(0, FINDINGS_SHOWN)
    .flatMap(({ code, summary, remediation = [] }) => [
      `    ${printable(summary)} ${dim(code)}`,
      ...remediation.map((remedy) => dim(`      ${printable(remedy.summary)}`)),
    ]);
  const more = findings.length - FINDINGS_SHOWN;
  return more > 0 ? [...lines, dim(`    and ${more} more; see --json`)] : lines;
}

function signOf(status: Check['status'], { green, yellow, red }: Palette): string {
  switch (status) {
    case 'pass':
      return green('✔');
    case 'warning':
      return yellow('!');
    case 'unknown':
      return yellow('?');
    case 'fail':
      return red('✖');
  }
}
