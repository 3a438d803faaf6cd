import { installTools } from '../test/deploy/support/tools.ts';

/** What `npm run deploy:check` needs beside the packages of the repository: installed once, from the registry of npm. */
const tools = await installTools();
for (const { name, isNew, problem } of tools) {
  console.log(`   ${name}: ${problem === null ? (isNew ? 'installed' : 'there') : 'MISSING'}`);
}
for (const { name, problem } of tools.filter((tool) => tool.problem !== null)) {
  console.error(
    `\n${name} could not be installed, so the tests that need it fail. Is the registry of npm within reach?`,
  );
  console.error(problem.split('\n').filter(Boolean).slice(0, 5).join('\n'));
}
process.exitCode = tools.some(({ problem }) => problem !== null) ? 1 : 0;
