import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
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

/** `onArrival` is called with the number of each call that comes to the desk, before anything is done there. */
export async function startGithubExample(
  seed: number,
  runCount: number,
  onArrival: (callNo: number) => void = () => undefined,
): Promise<GithubExample> {
  let arrivals = 0;
  const arrive = (): void => {
    arrivals += 1;
    onArrival(arrivals);
  };
  const desk: Server = createDesk(seed, arrive, () => undefined);
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  const deskUrl = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
  return {
    deskUrl,
    async play(engineUrl, meanwhile) {
      const api = createEngineApi(engineUrl, Date.now() + DEADLINE_MS);
      const { runs, instances } = await sendAll(api, seed, runCount, meanwhile);
      const ledger = Ledger.parse(await (await fetch(`${deskUrl}/ledger`)).json());
      return verify(runs, instances, ledger);
    },
    close: () => desk.close(),
  };
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
