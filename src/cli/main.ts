#!/usr/bin/env node
import { defineCommand } from 'citty';
import { endOnSignals } from './end-on-signals.ts';
import { packageFacts } from './package-facts.ts';
import { runCli } from './run-main.ts';

/** `stepwell`: each command is loaded when it is called, so that small ones start fast. */
const subCommands = {
  dev: () => import('./commands/dev.ts').then((module) => module.default),
  serve: () => import('./commands/serve.ts').then((module) => module.default),
  migrate: () => import('./commands/migrate.ts').then((module) => module.default),
  check: () => import('./commands/check.ts').then((module) => module.default),
  types: () => import('./commands/types.ts').then((module) => module.default),
  publish: () => import('./commands/publish.ts').then((module) => module.default),
  start: () => import('./commands/start.ts').then((module) => module.default),
  list: () => import('./commands/list.ts').then((module) => module.default),
  get: () => import('./commands/get.ts').then((module) => module.default),
  tree: () => import('./commands/tree.ts').then((module) => module.default),
  explain: () => import('./commands/explain.ts').then((module) => module.default),
  signal: () => import('./commands/signal.ts').then((module) => module.default),
  retry: () => import('./commands/retry.ts').then((module) => module.default),
  wake: () => import('./commands/wake.ts').then((module) => module.default),
  'migrate-instance': () => import('./commands/migrate-instance.ts').then((module) => module.default),
  verify: () => import('./commands/verify.ts').then((module) => module.default),
  settings: () => import('./commands/settings.ts').then((module) => module.default),
  doctor: () => import('./commands/doctor.ts').then((module) => module.default),
  cost: () => import('./commands/cost.ts').then((module) => module.default),
  template: () => import('./commands/template.ts').then((module) => module.default),
};

const main = defineCommand({
  meta: {
    name: 'stepwell',
    version: packageFacts().version,
    description: 'Durable workflows with no server to keep alive.',
  },
  subCommands,
});

endOnSignals(process.pid);

// A reader that has seen enough (`stepwell tree … | head`) is no fault of ours.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

await runCli({ ...main, subCommands }, process.argv.slice(2));
