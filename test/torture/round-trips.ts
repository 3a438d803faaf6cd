import { canonicalJson, type Json, jsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Heard, Torturer } from './torturer.ts';

/** A text as value and as name of a member. */
const both = (text: string): Json =>
  jsonObject([
    ['v', text],
    [text, [text]],
  ]);

/**
 * What a text goes through: every place that keeps texts of callers is given it, as value, name or key. Either the place
 * refuses it with a 4xx, or it comes back exactly.
 */
export interface Journey {
  readonly text: string;
  readonly torturer: Torturer;
  readonly tenant: string;
}

type Body = Heard['body'];

/** Calls; null when the call was refused, which is noted when it was not with a 4xx. */
async function call(journey: Journey, method: string, path: string, body?: Json): Promise<Body> {
  const raw = body === undefined ? {} : { raw: JSON.stringify(body) };
  const headers = { 'x-tenant-id': journey.tenant };
  const heard = await journey.torturer.send({ method, path: `/api/v1${path}`, ...raw, headers });
  if (heard.status < 300) return heard.body ?? {};
  if (heard.status >= 500) complain(journey, `${method} ${path} answered ${heard.status} ${heard.text}`);
  return null;
}

function complain({ text, torturer }: Journey, what: string): void {
  torturer.complain(`${JSON.stringify(text.slice(0, 60))}: ${what.slice(0, 400)}`);
}

function expectSame(journey: Journey, where: string, found: Json | undefined, given: Json): void {
  if (found !== undefined && canonicalJson(found) === canonicalJson(given)) return;
  complain(journey, `${where} came back as ${JSON.stringify(found)?.slice(0, 200)}`);
}

const name = (text: string): string => encodeURIComponent(text);

/** Records of callers: what was created reads back as it was given. */
export async function throughRecords(journey: Journey): Promise<void> {
  const { text, tenant } = journey;
  const kept = both(text);
  const keep = async (path: string, body: { readonly [key: string]: Json }, members: readonly string[]) => {
    const made = await call(journey, 'POST', path, body);
    if (made === null) return;
    for (const member of members)
      expectSame(journey, `${member} of ${path}`, made[member], body[member] ?? null);
    const id = made.id ?? made.name;
    const read = await call(journey, 'GET', `${path}/${name(id)}`);
    if (read === null) return complain(journey, `${path}/${id} is not there`);
    for (const member of members)
      expectSame(journey, `${member} of ${path} later`, read[member], body[member] ?? null);
  };
  const own = { tenant_id: tenant };
  await keep('/sessions', { ...own, session_key: text, data: kept }, ['session_key', 'data']);
  await keep('/sessions', { ...own, session_key: `s-${nextId()}`, data: kept }, ['data']);
  await keep('/credentials', { ...own, id: `c-${nextId()}`, name: text, value: text, description: text }, [
    'name',
    'description',
  ]);
  await keep('/credentials', { ...own, id: text, name: 'n', value: 'v' }, ['id']);
  await keep('/pools', { ...own, name: text }, ['name']);
  const plugin = { ...own, name: text, plugin_type: 'wasm', source: 'x', description: text, config: kept };
  await keep('/plugins', plugin, ['name', 'description', 'config']);
  const rule = { ...own, handler_name: text, queue_override: text, match_queue: text };
  await keep('/routing-rules', rule, ['handler_name', 'queue_override']);
  const event = { event_name: text, producer_event_id: text, correlation_key: text, payload: kept };
  const accepted = await call(journey, 'POST', '/events', { ...own, ...event });
  if (accepted !== null) {
    const read = await call(journey, 'GET', `/events/${accepted.event_id}`);
    for (const [member, value] of Object.entries(event))
      expectSame(journey, `${member} of an event`, read?.[member], value);
  }
  const limit = `/tenants/${name(tenant)}/rate-limits/${name(text)}`;
  if ((await call(journey, 'PUT', limit, { max_count: 1, window_seconds: 60 })) !== null) {
    expectSame(journey, 'key of a rate limit', (await call(journey, 'GET', limit))?.resource_key, text);
  }
}

/** A sequence named by the text, with a block, a namespace and params of it, and a run of it with data of it. */
export async function throughRuns(journey: Journey): Promise<void> {
  const { text, tenant } = journey;
  const base = { tenant_id: tenant, version: 1, created_at: '2027-02-11T07:45:00Z' };
  const copy = { type: 'step', id: 'copy', handler: 'transform' };
  const names = { namespace: text, name: text };
  await publishAndRun(journey, { ...base, id: nextId(), ...names, blocks: [{ ...copy, id: text }] });
  const params = { all: '{{data}}', text: '{{data.v}}', glued: '<{{data.v}}>', config: '{{config.v}}' };
  const sound = { namespace: 'n', name: `s-${nextId()}` };
  const run = await publishAndRun(journey, {
    ...base,
    id: nextId(),
    ...sound,
    blocks: [{ ...copy, params }],
  });
  if (run === null) return complain(journey, 'a run with data of it was refused');
  const [output] = (await call(journey, 'GET', `/instances/${run.id}/outputs`)) ?? [];
  const data = both(text);
  expectSame(journey, 'the output of a step', output?.output, {
    all: data,
    text,
    glued: `<${text}>`,
    config: text,
  });
  expectSame(journey, 'data of a run', run.context.data, data);
  expectSame(journey, 'config of a run', run.context.config, data);
  expectSame(journey, 'metadata of a run', run.metadata, data);
  await throughWorker(journey, base);
}

/** A worker whose handler, queue and own name are the text, and what it reports. */
async function throughWorker(journey: Journey, base: { readonly [key: string]: Json }): Promise<void> {
  const { text } = journey;
  const handler = `worker-${text}`;
  const blocks = [{ type: 'step', id: 'work', handler, queue_name: text }];
  const sequence = { ...base, id: nextId(), namespace: 'n', name: `s-${nextId()}`, blocks };
  if ((await call(journey, 'POST', '/sequences', sequence)) === null) return;
  const started = await call(journey, 'POST', '/instances', startOf(journey, sequence));
  if (started === null) return complain(journey, 'a published version could not be started');
  const poll = { handler_name: handler, worker_id: text, queue_name: text };
  const task = await waitUntil(`the task of ${JSON.stringify(text)}`, async () => {
    const tasks = await call(journey, 'POST', '/workers/tasks/poll/queue', poll);
    // A name that no worker may have: nobody can take the task.
    if (tasks === null) return 'refused';
    const isOver = (await call(journey, 'GET', `/instances/${started.id}`))?.state === 'failed';
    return tasks[0] ?? (isOver && 'over');
  });
  // A name with a scheme means a plugin, and there is none.
  if (task === 'over' && !text.includes('://')) complain(journey, 'a run of a worker with its name failed');
  if (task === 'refused' || task === 'over') return;
  const report = { worker_id: text, claim_epoch: task.claim_epoch, output: both(text) };
  await call(journey, 'POST', `/workers/tasks/${task.id}/complete`, report);
  await ended(journey, started.id);
  const [output] = (await call(journey, 'GET', `/instances/${started.id}/outputs`)) ?? [];
  expectSame(journey, 'the output of a worker', output?.output, both(text));
}

function startOf(
  { text, tenant }: Journey,
  { id, namespace }: { readonly id: string; readonly namespace: Json },
): Json {
  const data = both(text);
  return { sequence_id: id, tenant_id: tenant, namespace, metadata: data, context: { data, config: data } };
}

async function publishAndRun(
  journey: Journey,
  sequence: {
    readonly [key: string]: Json;
    readonly id: string;
    readonly namespace: Json;
    readonly blocks: Json;
  },
): Promise<Body> {
  if ((await call(journey, 'POST', '/sequences', sequence)) === null) return null;
  const stored = await call(journey, 'GET', `/sequences/${sequence.id}`);
  expectSame(journey, 'the name of a sequence', stored?.name, sequence['name'] ?? null);
  expectSame(journey, 'the first block of a sequence', stored?.blocks[0].id, firstId(sequence.blocks));
  const started = await call(journey, 'POST', '/instances', startOf(journey, sequence));
  if (started === null) return null;
  return ended(journey, started.id);
}

function firstId(blocks: Json): Json {
  const [first] = blocks as readonly { readonly id: Json }[];
  return first?.id ?? null;
}

async function ended(journey: Journey, id: string): Promise<Body> {
  const run = await waitUntil(`the run of ${JSON.stringify(journey.text)} has ended`, async () => {
    const view = await call(journey, 'GET', `/instances/${id}`);
    return ['completed', 'failed', 'cancelled'].includes(view?.state) && view;
  });
  if (run.state !== 'completed') complain(journey, `a run of it is ${run.state}`);
  return run;
}
