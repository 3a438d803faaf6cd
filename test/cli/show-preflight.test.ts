import { expect, it } from 'vitest';
import { describePreflight } from '../../src/cli/show/preflight.ts';
import { createPalette } from '../../src/cli/terminal.ts';

const plain = createPalette(false);
const at = '2027-02-11T07:46:02.000Z';

it('shows each check with its sign, and what it found with the remedy', () => {
  const finding = {
    ...{
      code: 'NO_COMPATIBLE_WORKER',
      severity: 'error' as const,
      summary: "handler 'mail' has no live worker",
    },
    ...{ affected_resource: { kind: 'handler', id: 'mail' }, confidence: 'high' as const, observed_at: at },
    remediation: [{ summary: 'Start a worker that serves this handler.', side_effect_risk: false }],
  };
  const lines = describePreflight(
    {
      ...{ sequence_name: 'returns', sequence_version: 3, overall: 'fail', generated_at: at },
      checks: [
        { id: 'definition_valid', status: 'pass', summary: 'structure is valid' },
        { id: 'lint_clean', status: 'warning', summary: '1 thing looks wrong' },
        { id: 'credentials_present', status: 'unknown', summary: 'what this check needs could not be read' },
        {
          id: 'handlers_have_workers',
          status: 'fail',
          summary: '22 handlers',
          findings: Array(22).fill(finding),
        },
      ],
    },
    plain,
  );
  expect(lines.slice(0, 7)).toEqual([
    'returns version 3',
    '✔ structure is valid definition_valid',
    '! 1 thing looks wrong lint_clean',
    '? what this check needs could not be read credentials_present',
    '✖ 22 handlers handlers_have_workers',
    "    handler 'mail' has no live worker NO_COMPATIBLE_WORKER",
    '      Start a worker that serves this handler.',
  ]);
  expect(lines.at(-1)).toBe('    and 2 more; see --json');
});
