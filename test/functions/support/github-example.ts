import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDesk } from '../../../examples/github-webhooks/desk.ts';
import {
  createEngineApi,
  type EngineApi,
  type Instance,
} from '../../../examples/github-webhooks/engine-api.ts';
import { deliver } from '../../../examples/github-webhooks/github.ts';
import { Ledger } from '../../../examples/github-webhooks/ledger.ts';
import type { Narrator } from '../../../examples/github-webhooks/narrator.ts';
import { approve } from '../../../examples/github-webhooks/person.ts';
import { makePlan } from '../../../examples/github-webhooks/plan.ts';
import { type Findings, type Run, verify } from '../../../examples/github-webhooks/verify.ts';
import { createPalette } from '../../../src/cli/terminal.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The main job of the examples, played against an engine that runs elsewhere and has its sequence already. */
export interface GithubExample {
  readonly deskUrl: string;
  /** Sends the webhooks, answers the approvals and waits for the end of all runs; `meanwhile` is called again and again. */
  play(engineUrl: string, meanwhile: () => Promise<unknown>): Promise<Findings>;
  /** All who call the desk now were killed, and what stands between does not hang up for them. */
  readonly hangUp: () => void;
  close(): void;
}

const NAMESPACE = 'default';
/** For a machine that does much else; some ten seconds are enough for an idle one. */
const DEADLINE_MS = 180_000;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);
const SILENT: Narrator = {
  palette: createPalette(false),
  say: () => undefined,
  line: () => undefined,
};

/** The number of a call that comes to the desk, and whose it is. Nothing is done there before this has ended. */
export type OnArrival = (callNo: number, instanceId: string) => unknown;

export async function startGithubExample(
  seed: number,
  runCount: number,
  onArrival: OnArrival = () => undefined,
): Promise<GithubExample> {
  const {
    server: desk,
    overlaps,
    hangUp,
  } = watchedDesk(
    createDesk(
      seed,
      () => undefined,
      () => undefined,
    ),
    onArrival,
  );
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  const deskUrl = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
  return {
    deskUrl,
    async play(engineUrl, meanwhile) {
      const api = createEngineApi(engineUrl, Date.now() + DEADLINE_MS);
      const { runs, instances } = await sendAll(api, seed, runCount, meanwhile);
      const ledger = Ledger.parse(await (await fetch(`${deskUrl}/ledger`)).json());
      const findings = verify(runs, instances, ledger);
      return { ...findings, violations: [...findings.violations, ...overlaps] };
    },
    hangUp,
    close: () => desk.close(),
  };
}

interface WatchedDesk {
  readonly server: Server;
  readonly overlaps: readonly string[];
  readonly hangUp: () => void;
}

/**
 * Stands before the desk, and sees what is asked for while the same is under way for somebody else. The desk does it once all the
 * same, by its key; but whoever holds the lease of a run works on it alone, and whoever was killed hangs up.
 */
function watchedDesk(desk: Server, onArrival: OnArrival): WatchedDesk {
  const overlaps: string[] = [];
  const underWay = new Map<string, ServerResponse>();
  let arrivals = 0;
  const server = createServer((request, response) => {
    const effect = request.headers['x-effect'];
    if (typeof effect !== 'string') return desk.emit('request', request, response);
    if (underWay.has(effect)) overlaps.push(`${effect} was asked for twice at once`);
    underWay.set(effect, response);
    response.once('close', () => {
      if (underWay.get(effect) === response) underWay.delete(effect);
    });
    arrivals += 1;
    const seen = Promise.resolve(onArrival(arrivals, effect.split('/')[0] ?? ''));
    return void seen.then(() => desk.emit('request', request, response));
  });
  return { server, overlaps, hangUp: () => underWay.clear() };
}

async function sendAll(
  api: EngineApi,
  seed: number,
  runCount: number,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly runs: readonly Run[]; readonly instances: readonly Instance[] }> {
  const hook = { slug: 'github', secret: randomBytes(20).toString('hex') };
  await api.createTrigger({
    ...hook,
    sequence_name: 'github-webhook',
    tenant_id: 'default',
    namespace: NAMESPACE,
    config: { signature: { scheme: 'github' } },
  });
  const verdicts = new Map<string, string>();
  const over = new AbortController();
  const person = approve(NAMESPACE, api, SILENT, (id) => verdicts.get(id) ?? null, over.signal);
  const play = async () => {
    const runs = await Promise.all(
      makePlan(seed, runCount).deliveries.map(async (delivery) => {
        const answer = await deliver(delivery, hook, api, SILENT);
        verdicts.set(answer.instanceId, delivery.verdict);
        return { delivery, ...answer };
      }),
    );
    const haveEnded = async () => {
      await meanwhile();
      const all = await api.instances(NAMESPACE);
      return all.filter(({ state }) => ENDED.has(state)).length >= runCount ? all : null;
    };
    const instances = await waitUntil('all runs have ended', haveEnded, DEADLINE_MS);
    return { runs, instances };
  };
  const [played] = await Promise.all([play().finally(() => over.abort()), person]);
  return played;
}
