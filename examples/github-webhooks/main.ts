import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createEngineApi, type EngineApi, type Instance } from './engine-api.ts';
import { deliver, type Hook } from './github.ts';
import { type DeskLine, Ledger } from './ledger.ts';
import { createNarrator, type Narrator, shortId } from './narrator.ts';
import { type Options, readOptions } from './options.ts';
import { approve } from './person.ts';
import { type Delivery, makePlan } from './plan.ts';
import { type Desk, startDesk } from './processes.ts';
import { printRuns, printSummary, printTree, type Summary } from './report.ts';
import { githubSequence } from './sequence.ts';
import { type MortalEngine, startMortalEngine } from './mortal-engine.ts';
import { type Run, verify } from './verify.ts';

/** All must be done by then; a healthy run takes a fraction of it. */
const DEADLINE_MS = 90_000;
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

const options = readOptions(process.argv.slice(2));
// Ctrl-C takes the engine and the desk along: they end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = options === null ? 2 : await runExample(options);

async function runExample(options: Options): Promise<number> {
  const narrator = createNarrator(options.json);
  const dataFolder = mkdtempSync(join(tmpdir(), 'stepwell-example-'));
  const startedAt = Date.now();
  process.once('exit', () => rmSync(dataFolder, { recursive: true, force: true }));
  const open: Array<() => void | Promise<void>> = [];
  try {
    const plan = makePlan(options.seed, options.runCount);
    const port = await freePort();
    const engine = startMortalEngine(
      { port, dataFolder, database: options.database },
      plan.killAtCalls,
      narrator,
    );
    open.push(engine.stop);
    const desk = await startDesk(options.seed, (line) => onDeskLine(line, engine, narrator));
    open.push(desk.stop);
    narrator.say('desk', `listens on ${desk.url} and will fail now and then`);
    await engine.ready;
    const api = createEngineApi(`http://127.0.0.1:${port}`, startedAt + DEADLINE_MS);
    const { runs, instances } = await play(plan.deliveries, desk, api, narrator, startedAt + DEADLINE_MS);
    await engine.allKillsDone;
    const ledger = Ledger.parse(await (await fetch(`${desk.url}/ledger`)).json());
    const findings = verify(runs, instances, ledger);
    printRuns(runs, instances, narrator);
    await printTree(runs, api, narrator);
    const summary: Summary = {
      ok: findings.violations.length === 0 && engine.killCount() === plan.killAtCalls.length,
      seed: options.seed,
      database: options.database === null ? 'embedded' : 'postgresql',
      runs: runs.length,
      kills: engine.killCount(),
      seconds: Math.round((Date.now() - startedAt) / 100) / 10,
      findings,
      repeat: repeatCommand(options),
    };
    printSummary(summary, narrator);
    if (options.json) console.log(JSON.stringify(summary));
    return summary.ok ? 0 : 1;
  } catch (error) {
    narrator.line(narrator.palette.red(error instanceof Error ? error.message : String(error)));
    return 1;
  } finally {
    for (const close of open.reverse()) await close();
  }
}

/** Without the address of the database, which holds a password. */
function repeatCommand({ seed, runCount, database }: Options): string {
  const where = database === null ? '' : ' --database <the same>';
  return `npm run example -- --seed ${seed} --runs ${runCount}${where}`;
}

/** Publishes the sequence, sends all webhooks, answers the approvals, waits for the end of all runs. */
async function play(
  deliveries: readonly Delivery[],
  desk: Desk,
  api: EngineApi,
  narrator: Narrator,
  deadlineAt: number,
): Promise<{ readonly runs: readonly Run[]; readonly instances: readonly Instance[] }> {
  const namespace = `example-${randomBytes(4).toString('hex')}`;
  const hook = await publish(namespace, desk, api);
  const deliveryOf = new Map<string, Delivery>();
  const over = new AbortController();
  const person = approve(
    namespace,
    api,
    narrator,
    (instanceId) => deliveryOf.get(instanceId)?.verdict ?? null,
    over.signal,
  );
  const [runs] = await Promise.all([
    Promise.all(
      deliveries.map(async (delivery, index) => {
        // GitHub's events come one after the other, a few per second.
        await delay(index * 150);
        const answer = await deliver(delivery, hook, api, narrator);
        deliveryOf.set(answer.instanceId, delivery);
        return { delivery, ...answer };
      }),
    ),
  ]);
  const instances = await untilAllEnded(namespace, runs.length, api, narrator, deadlineAt);
  over.abort();
  await person;
  return { runs, instances };
}

async function publish(namespace: string, desk: Desk, api: EngineApi): Promise<Hook> {
  const sequence = githubSequence(desk.url);
  const created = new Date().toISOString();
  await api.publish({
    ...sequence,
    id: randomUUID(),
    tenant_id: 'default',
    namespace,
    version: 1,
    created_at: created,
  });
  const hook = { slug: `github-${namespace}`, secret: randomBytes(20).toString('hex') };
  await api.createTrigger({
    slug: hook.slug,
    secret: hook.secret,
    sequence_name: 'github-webhook',
    tenant_id: 'default',
    namespace,
    config: { signature: { scheme: 'github' } },
  });
  return hook;
}

async function untilAllEnded(
  namespace: string,
  runCount: number,
  api: EngineApi,
  narrator: Narrator,
  deadlineAt: number,
): Promise<readonly Instance[]> {
  const told = new Set<string>();
  for (;;) {
    const instances = await api.instances(namespace);
    for (const { id, state } of instances.filter((instance) => TERMINAL.has(instance.state))) {
      if (!told.has(id)) narrator.say('run', `${shortId(id)} is ${state}`);
      told.add(id);
    }
    if (told.size >= runCount || Date.now() > deadlineAt) return instances;
    await delay(200);
  }
}

function onDeskLine(line: DeskLine, engine: MortalEngine, narrator: Narrator): void {
  if (line.type === 'arrival') engine.onDeskCall();
  if (line.type !== 'call') return;
  const { yellow, green, dim } = narrator.palette;
  const [instanceId = '', ...what] = line.effect.split('/');
  const status = line.status === 200 ? green('200') : yellow(String(line.status));
  const again = line.repeated ? dim(' (done before, same key)') : '';
  const name = what.join('/').slice(0, 24);
  narrator.say('desk', `${status} run ${shortId(instanceId)} ${name}, call ${line.callNo}${again}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
