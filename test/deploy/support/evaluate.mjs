import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/*
 * Evaluates an sst.config.ts as `sst deploy` does, with sst's own components and the CLI's way to bundle the configuration,
 * under Pulumi's mocks: no account and no engine. Prints the resources of every variant as JSON.
 *
 *     node evaluate.mjs '{"root": …, "platform": …, "variants": [{"stage": …, "edits": [{"file", "find", "replace"}]}]}'
 *
 * `edits` change sources while they are read, which plants mistakes. With `artifacts` the functions are really bundled, into
 * a folder there for each variant, named by its number; else they are not looked at.
 */
const { root, platform, artifacts = null, variants } = JSON.parse(process.argv[2]);
const platformRequire = createRequire(join(platform, 'package.json'));
const esbuild = platformRequire('esbuild');
const pulumi = platformRequire('@pulumi/pulumi');
const lock = JSON.parse(readFileSync(join(platform, '..', 'provider-lock.json'), 'utf8'));
// Below the platform, so that its packages are found.
const work = join(platform, `.evaluate-${process.pid}`);
mkdirSync(work, { recursive: true });

const builds = [];
/** Number of the variant that is being evaluated. */
let current = 0;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { method, params } = JSON.parse(body);
  try {
    response.end(JSON.stringify({ result: await answer(method, params[0]) }));
  } catch (error) {
    response.end(JSON.stringify({ error: String(error.message ?? error) }));
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
process.env.SST_SERVER = `http://127.0.0.1:${server.address().port}`;

/** The calls that components make to the CLI. */
async function answer(method, args) {
  if (method === 'Provider.Aws.Bootstrap') {
    return {
      asset: 'assets',
      assetEcrRegistryId: '1',
      assetEcrUrl: 'ecr',
      state: 'state',
      appsyncHttp: 'h',
      appsyncRealtime: 'r',
    };
  }
  return method === 'Runtime.Build' ? buildFunction(args) : null;
}

/** As the CLI builds a Node function: one folder, the handler's file under its own name. */
async function buildFunction({ functionID, handler, properties }) {
  const source = handler.replace(/\.[^.]+$/, '.ts');
  const exported = handler.split('.').pop();
  const out = join(artifacts === null ? work : join(artifacts, String(current)), functionID);
  mkdirSync(out, { recursive: true });
  builds.push({ functionID, handler, properties });
  const file = basename(source, '.ts');
  if (artifacts === null) writeFileSync(join(out, `${file}.mjs`), `// ${functionID}`);
  else {
    const { metafile } = await esbuild.build({
      metafile: true,
      absWorkingDir: root,
      entryPoints: [join(root, source)],
      outdir: out,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      minify: properties.minify ?? true,
      splitting: properties.splitting ?? false,
      format: 'esm',
      platform: 'node',
      target: 'esnext',
      mainFields: ['module', 'main'],
      external: [...(properties.esbuild?.external ?? [])],
      banner: {
        js: "import { createRequire as topLevelCreateRequire } from 'module'; const require = topLevelCreateRequire(import.meta.url);",
      },
      logLevel: 'error',
    });
    // What each file is made of, for those who look at the bundles.
    writeFileSync(`${out}.json`, JSON.stringify(metafile.outputs));
  }
  return { handler: `${file}.${exported}`, out, errors: [], sourcemaps: [] };
}

/** Secrets are wrapped as {4dabf…: signature, value}. */
const SECRET = '4dabf18193072939515e22adb298388d';
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  if (SECRET in value) return plain(value.value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** Paths of the inputs that are secret: all else stands in the state as it is. */
function secretPaths(value, path = '') {
  if (value === null || typeof value !== 'object') return [];
  if (SECRET in value) return [path];
  return Object.entries(value).flatMap(([key, item]) =>
    secretPaths(item, path === '' ? key : `${path}.${key}`),
  );
}

let resources = [];
/** Options by the name of the resource, which mocks are not told. */
const optionsOf = new Map();
/** What others must wait for: else the order of registration would be one of luck. */
const SLOW = new Set(['aws:lambda/function:Function', 'aws:lambda/invocation:Invocation']);
globalThis.noteOptions = ({ name, opts }) => void optionsOf.set(name, opts);
async function newResource({ type, name, inputs, id }) {
  const { deleteBeforeReplace = false, dependsOn = [] } = optionsOf.get(name) ?? {};
  resources.push({
    type,
    name,
    inputs: plain(inputs),
    secrets: secretPaths(inputs),
    deleteBeforeReplace,
    after: [dependsOn].flat().map((resource) => resource.__name),
  });
  // As long as another resource that does not wait for this one takes to be registered.
  if (SLOW.has(type)) await new Promise((resolve) => setTimeout(resolve, 15));
  const service = (type.split(':')[1] ?? '').split('/')[0];
  const arn =
    type === 'aws:scheduler/scheduleGroup:ScheduleGroup'
      ? `arn:aws:scheduler:us-east-1:000000000000:schedule-group/${name}`
      : `arn:aws:${service}:us-east-1:000000000000:${name}`;
  const state = {
    ...inputs,
    name: inputs.name ?? name,
    arn,
    url: `https://${name}.local`,
    functionUrl: `https://${name}.lambda-url.local/`,
    result: '{}',
    ...(/randomBytes/i.test(type) ? { base64: Buffer.alloc(32).toString('base64'), hex: '00' } : {}),
    ...(/randomId/i.test(type) ? { hex: '00000000', dec: '0', b64Std: 'AA==', b64Url: 'AA' } : {}),
  };
  return { id: id || `${name}-id`, state };
}

function call({ token, inputs }) {
  switch (token) {
    case 'aws:index/getCallerIdentity:getCallerIdentity':
      return { accountId: '000000000000', arn: 'arn', userId: 'u', id: 'i' };
    case 'aws:index/getRegion:getRegion':
      return { name: 'us-east-1', region: 'us-east-1', id: 'us-east-1', description: '' };
    case 'aws:index/getPartition:getPartition':
      return { partition: 'aws', dnsSuffix: 'amazonaws.com', id: 'aws' };
    case 'aws:iam/getPolicyDocument:getPolicyDocument':
      return {
        ...inputs,
        json: JSON.stringify({ Statement: inputs.statements }),
        minifiedJson: '{}',
        id: 'x',
      };
    default:
      return inputs;
  }
}

const GLOBALS = [
  ...lock.map(({ alias, package: name }) => `import * as ${alias} from '${name}';`),
  `import * as sst from '${platform}/src/components';\n`,
].join(' ');
const REQUIRE = `import { createRequire as _cr } from 'module'; import _p from 'path'; import { fileURLToPath as _f } from 'url';
const require = _cr(import.meta.url); const __filename = _f(import.meta.url); const __dirname = _p.dirname(__filename);`;

/** Sources outside the platform get the components and providers as globals, as from the CLI, and the planted mistakes. */
function sources(edits, prefix = '') {
  return {
    name: 'sources',
    setup(build) {
      // Of installed packages only ours is part of the configuration.
      build.onResolve({ filter: /^stepwell\// }, ({ path }) => ({
        path: join(root, 'node_modules/stepwell/dist', `${path.slice('stepwell/'.length)}.js`),
      }));
      build.onLoad({ filter: /[.](ts|mjs|js)$/ }, ({ path }) => {
        if (path.startsWith(platform)) return null;
        let contents = readFileSync(path, 'utf8');
        for (const { find, replace } of edits.filter(({ file }) => path === join(root, file))) {
          if (!contents.includes(find)) throw new Error(`${path} has no ${find}`);
          contents = contents.replaceAll(find, replace);
        }
        return { contents: prefix + contents, loader: 'ts' };
      });
    },
  };
}

/** The CLI looks at app() first, on its own. */
async function appOf(stage, edits) {
  globalThis.$config = (config) => config;
  const outfile = join(work, `app-${stage}-${resources.length}-${Math.random()}.mjs`);
  await esbuild.build({
    entryPoints: [join(root, 'sst.config.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    plugins: [sources(edits)],
    define: { $app: JSON.stringify({ name: 'early', stage }) },
    logLevel: 'error',
    external: ['@pulumi/*'],
  });
  const { default: config } = await import(pathToFileURL(outfile).href);
  return { protect: false, removal: 'remove', ...(await config.app({ stage })), stage };
}

async function evaluate({ stage, edits = [] }, index) {
  resources = [];
  optionsOf.clear();
  current = index;
  const app = await appOf(stage, edits);
  await pulumi.runtime.setMocks({ newResource, call }, app.name, stage, false);
  const outfile = join(work, `run-${index}.mjs`);
  const cli = {
    command: 'deploy',
    dev: false,
    paths: { home: work, root, work: join(platform, '..'), platform },
    state: { version: {} },
  };
  await esbuild.build({
    stdin: {
      contents: `import { run } from '${platform}/src/auto/run.ts';\nimport config from '${root}/sst.config.ts';\nimport { runtime } from '@pulumi/pulumi';\nexport default await runtime.runInPulumiStack(() => {\n  runtime.registerStackTransformation(globalThis.noteOptions);\n  return run(config.run);\n});\n`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'esnext',
    logLevel: 'error',
    keepNames: true,
    define: { $app: JSON.stringify(app), $cli: JSON.stringify(cli), $dev: 'false' },
    inject: [join(platform, 'src/shim/run.js')],
    packages: 'external',
    loader: { '.node': 'file' },
    banner: { js: REQUIRE },
    plugins: [sources(edits, GLOBALS)],
  });
  const { default: outputs } = await import(pathToFileURL(outfile).href);
  await settled();
  const shown = await Promise.all(
    Object.entries(outputs).map(async ([name, output]) => [name, await valueOf(output)]),
  );
  return { app, outputs: Object.fromEntries(shown), resources };
}

const valueOf = (value) => new Promise((resolve) => pulumi.output(value).apply(resolve));

/** Nothing is registered any more for a while: components register what they are made of later and later. */
async function settled() {
  for (let quiet = 0, seen = -1; quiet < 3; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await pulumi.runtime.waitForRPCs?.();
    quiet = resources.length === seen ? quiet + 1 : 0;
    seen = resources.length;
  }
}

const answers = [];
let failure = null;
/** An output that fails may leave others that wait for it for ever. */
let giveUp = () => undefined;
process.on('unhandledRejection', (error) => {
  failure ??= error;
  giveUp(error);
});
for (const [index, variant] of variants.entries()) {
  failure = null;
  try {
    const failed = new Promise((_, reject) => {
      giveUp = reject;
    });
    const evaluated = await Promise.race([evaluate(variant, index), failed]);
    if (failure !== null) throw new Error(String(failure.stack ?? failure));
    answers.push({ ok: true, ...evaluated });
  } catch (error) {
    answers.push({ ok: false, error: String(error?.stack ?? error) });
  }
}
server.close();
// Pulumi makes it an error that outputs of a failed evaluation are still waited for.
process.removeAllListeners('exit');
rmSync(work, { recursive: true, force: true });
process.stdout.write(
  JSON.stringify({
    answers,
    builds: builds.map((build) => ({ ...build, handler: relative('.', build.handler) })),
  }),
  () => process.exit(0),
);
