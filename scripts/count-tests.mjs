import { readFileSync } from 'node:fs';

/**
 * Counts in a report of vitest's JSON reporter, of all files or of those that are asked for. A file that fails before its tests
 * run counts as one failure.
 */
export function countTests(reportPath, isAsked = () => true) {
  const { testResults } = JSON.parse(readFileSync(reportPath, 'utf8'));
  const files = testResults.filter(({ name }) => isAsked(name));
  const count = (status) =>
    files.flatMap(({ assertionResults }) => assertionResults).filter((test) => test.status === status).length;
  const unrunCount = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  return { passedCount: count('passed'), failedCount: count('failed') + unrunCount };
}
