import { readFileSync } from 'node:fs';

/** Counts in a report of vitest's JSON reporter. A file that fails before its tests run counts as one failure. */
export function countTests(reportPath) {
  const report = JSON.parse(readFileSync(reportPath, 'utf8'));
  const unrunCount = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  return { passedCount: report.numPassedTests, failedCount: report.numFailedTests + unrunCount };
}
