import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { systemClock } from '../src/adapters/system.ts';

const TENANT = { tenant_id: 'default', namespace: 'default' };
const Id = z.object({ id: z.string() });
const Task = z.object({ id: z.string(), claim_epoch: z.number() });
const POLL_MS = 5;

/** The few calls that the measurement makes. */
export function client(base: string) {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = { method, headers: { 'content-type': 'application/json' } };
    const response = await fetch(
      base + path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  return {
    publish: async (blocks: readonly unknown[]): Promise<string> => {
      const document = { id: randomUUID(), ...TENANT, name: 'bench', version: 1, blocks };
      return Id.parse(await call('POST', '/sequences', { ...document, created_at: '2026-01-01T00:00:00Z' }))
        .id;
    },
    start: async (sequenceId: string): Promise<string> =>
      Id.parse(await call('POST', '/instances', { sequence_id: sequenceId, ...TENANT })).id,
    answer: (id: string, block: string) =>
      call('POST', `/instances/${id}/signals`, {
        signal_type: { custom: `human_input:${block}` },
        payload: { value: 'yes' },
      }),
    /** Looks until the run waits for a person. */
    untilWaiting: async (id: string): Promise<void> => {
      const State = z.object({ state: z.string() });
      while (State.parse(await call('GET', `/instances/${id}`)).state !== 'waiting') await pause();
    },
    /** Claims the next task of a handler; what it gives reports the result. */
    reportOf: async (handler: string): Promise<() => Promise<unknown>> => {
      for (;;) {
        const polled = await call('POST', '/workers/tasks/poll', {
          handler_name: handler,
          worker_id: 'bench',
        });
        const [task] = z.array(Task).parse(polled);
        if (task !== undefined) {
          const body = { worker_id: 'bench', claim_epoch: task.claim_epoch, output: {} };
          return () => call('POST', `/workers/tasks/${task.id}/complete`, body);
        }
        await pause();
      }
    },
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** Reads the stream of an instance and notes when the output of each block came in. */
export function readEvents(url: string) {
  const seen = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const note = (blockId: string): void => {
    const at = systemClock.monotonicMs();
    if (seen.has(blockId)) return;
    seen.set(blockId, at);
    waiting.get(blockId)?.(at);
  };
  const done = (async () => {
    const { body } = await fetch(url);
    let rest = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = /^event: output\ndata: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) note(z.object({ block_id: z.string() }).parse(JSON.parse(data)).block_id);
      }
    }
  })();
  const output = (blockId: string): Promise<number> => {
    const at = seen.get(blockId);
    return at === undefined ? new Promise((resolve) => waiting.set(blockId, resolve)) : Promise.resolve(at);
  };
  return { output, done };
}
