import { existsSync } from 'node:fs';

/** Source of each file in dist/, by its name there; package.json "exports" and "bin" name the same files. */
const sources = {
  cli: 'src/cli/main.ts',
  index: 'src/sdk/index.ts',
  worker: 'src/sdk/worker.ts',
  client: 'src/sdk/client.ts',
  testing: 'src/sdk/testing.ts',
  aws: 'functions/aws/index.ts',
  cloudflare: 'functions/cloudflare/index.ts',
  sst: 'infra/component.ts',
};

/** The entry points that exist, as `{ index: 'src/sdk/index.ts', ... }`. */
export const entryPoints = Object.fromEntries(
  Object.entries(sources).filter(([, source]) => existsSync(source)),
);
