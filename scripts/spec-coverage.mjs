import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Which rules of the specification no test carries in its name. `test/spec/rules.json` lists the tags per document.
 *
 * Without an argument it counts the tests that there are (`vitest list`); with the JSON report of a test run it counts
 * those that passed, so that a skipped test covers nothing.
 */
const rules = JSON.parse(readFileSync('test/spec/rules.json', 'utf8'));
const names = process.argv[2] === undefined ? listedNames() : passedNames(process.argv[2]);

const covered = new Set(
  names.flatMap((name) => [...name.matchAll(/\b([A-Z][A-Z-]*-\d+)(?=[\]:])/g)].map(([, tag]) => tag)),
);
let missingCount = 0;
for (const [document, tags] of Object.entries(rules)) {
  const missing = tags.filter((tag) => !covered.has(tag));
  missingCount += missing.length;
  console.log(`${document}: ${tags.length - missing.length} of ${tags.length} rules have a test`);
  for (const tag of missing) console.log(`  no test: [${tag}]`);
}
process.exitCode = missingCount === 0 ? 0 : 1;

function listedNames() {
  const text = execFileSync('vitest', ['list', '--json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
  return JSON.parse(text.slice(text.indexOf('['))).map(({ name }) => name);
}

function passedNames(path) {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'));
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed')
    .map(({ fullName }) => fullName);
}
