import { builtinModules } from 'node:module';

/**
 * Which folder may import what: imports point inwards only, as ARCHITECTURE.md draws it. Each folder has an allow-list,
 * so that a new package or folder is refused until somebody decides where it belongs. Type imports count too.
 * Every rule has a planted fault in test/gates/dependency-rules.test.ts.
 */
const npm = (...names) => names.map((name) => `^node_modules/(@types/)?${name}/`);
const builtin = `^(node:)?(${builtinModules.filter((name) => !name.startsWith('_')).join('|')})$`;
const corePackages = npm('zod', '@noble/hashes', '@cfworker/json-schema');

const allow = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  to: { pathNot: to, couldNotResolve: false },
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    allow('core-allow-list', '^src/core/', ['^src/core/', ...corePackages], 'The core is pure.'),
    allow('ports-allow-list', '^src/ports/', ['^src/(ports|core)/'], 'Ports are interfaces over core types.'),
    allow('engine-allow-list', '^src/engine/', ['^src/(engine|ports|core)/'], 'IO goes through ports.'),
    allow(
      'api-allow-list',
      '^src/api/',
      ['^src/(api|engine|ports|core)/', ...npm('hono', 'zod')],
      'The API runs on every host, so it has no Node built-ins.',
    ),
    allow(
      'sdk-allow-list',
      '^src/sdk/(?!testing|client/wire)',
      ['^src/(sdk|ports|core)/', '^src/adapters/system[.]ts$', '^src/engine/ids[.]ts$', ...npm('zod')],
      'What users import stays small; only the test kit (src/sdk/testing*) brings an engine along.',
    ),
    allow(
      'sdk-wire-allow-list',
      '^src/sdk/client/wire',
      ['^src/api/schemas/', ...npm('zod')],
      'The client knows the wire by the types of its schemas; no code of the API goes along.',
    ),
    allow(
      'settings-allow-list',
      '^src/settings/',
      [
        '^src/(settings|core)/',
        '^src/adapters/postgres/connection/address[.]ts$',
        '^src/adapters/seal[.]ts$',
        ...npm('zod'),
      ],
      'Settings are rules, the same on every host.',
    ),
    {
      name: 'adapters-point-inwards',
      severity: 'error',
      comment: 'Adapters fill ports. Whatever needs an engine as well is composed in functions or the CLI.',
      from: { path: '^src/adapters/' },
      to: { path: '^(?!node_modules/)[^/]+/', pathNot: ['^src/(adapters|ports|core)/', builtin] },
    },
    {
      name: 'adapters-stay-apart',
      severity: 'error',
      comment:
        'One adapter is replaceable without the others. Files directly in src/adapters may join several.',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/($1/|system[.]ts$)' },
    },
    {
      name: 'nothing-imports-cli',
      severity: 'error',
      from: { pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'nothing-imports-functions',
      severity: 'error',
      from: { pathNot: '^functions/' },
      to: { path: '^functions/' },
    },
    {
      name: 'product-without-test-code',
      severity: 'error',
      from: { path: '^(src|functions)/' },
      to: { path: '^(test|bench|examples|scripts|docs)/' },
    },
    {
      name: 'product-without-dev-packages',
      severity: 'error',
      from: { path: '^(src|functions)/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that nothing imports and that imports nothing is dead.',
      from: { orphan: true, path: '^(src|functions)/', pathNot: '[.]d[.]ts$' },
      to: {},
    },
    {
      name: 'core-reaches-no-builtin',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { path: builtin, reachable: true },
    },
    {
      name: 'core-reaches-no-vendor',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { path: '^node_modules/', pathNot: corePackages, reachable: true },
    },
    {
      name: 'sdk-reaches-no-builtin',
      severity: 'error',
      comment: 'Client, worker and handlers run wherever there is fetch: on Workers and in browsers too.',
      from: { path: '^src/sdk/(?!testing)' },
      to: { path: builtin, reachable: true },
    },
    {
      name: 'worker-reaches-no-builtin',
      severity: 'error',
      comment: 'Workers have no Node built-ins; the bundle must not carry any.',
      from: { path: '^functions/cloudflare/' },
      to: { path: builtin, reachable: true },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API, so swc reads the sources.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: '^node_modules/' },
    exclude: { path: '^src/dashboard/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};
