import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import type { Body, Reply } from './api-fixture.ts';
import { published, startBody } from './documents.ts';
import type { LiveApi } from './live-api.ts';

/** Blocks and calls that the tests of resume-from and of forks share. */

export const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
export const says = (id: string, value: string, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'transform', params: { value }, ...extra });
/** Fails until `data.healed` is there. */
export const fragile = (id: string): JsonObject =>
  step(id, { handler: 'assert', params: { condition: 'data.healed' } });
export const gate = (id: string): JsonObject => step(id, { wait_for_input: { prompt: 'Go on?' } });

export interface RunCalls {
  /** Publishes a sequence of these blocks and starts an instance of it. */
  readonly start: (blocks: readonly JsonObject[], overrides?: JsonObject) => Promise<string>;
  readonly get: (path: string) => Promise<Body>;
  readonly post: (path: string, body?: unknown) => Promise<Reply>;
  readonly resume: (id: string, block: string, body?: unknown) => Promise<Reply>;
  /** Block and pass of every output. */
  readonly shown: (id: string) => Promise<readonly string[]>;
  /** State of every block of the tree. */
  readonly treeOf: (id: string) => Promise<Record<string, string>>;
  readonly signal: (id: string, type: unknown, payload?: unknown) => Promise<Reply>;
  readonly expectVerified: (id: string) => Promise<void>;
}

/** Calls to the API that `current` answers at the time of each call. */
export function createRunCalls(current: () => LiveApi): RunCalls {
  const get = async (path: string): Promise<Body> => (await current().call('GET', path)).body;
  const post = (path: string, body: unknown = {}): Promise<Reply> => current().call('POST', path, { body });
  return {
    get,
    post,
    start: async (blocks, overrides = {}) => {
      const sequenceId = await published(current() as never, { name: `s-${nextId()}`, blocks });
      const reply = await post('/instances', startBody(sequenceId, overrides));
      expect(reply.status).toBe(201);
      return reply.body.id as string;
    },
    resume: (id, block, body = {}) => post(`/instances/${id}/resume-from/${block}`, body),
    shown: async (id) =>
      (await get(`/instances/${id}/outputs`)).map(
        (row: Body) => `${row.block_id}${row.iteration === '' ? '' : `@${row.iteration}`}`,
      ),
    treeOf: async (id) =>
      Object.fromEntries(
        (await get(`/instances/${id}/tree`)).map((node: Body) => [node.block_id, node.state]),
      ),
    signal: (id, type, payload = null) => post(`/instances/${id}/signals`, { signal_type: type, payload }),
    expectVerified: async (id) => {
      expect(await get(`/instances/${id}/verify`)).toEqual({ instance_id: id, ok: true, differences: [] });
    },
  };
}
