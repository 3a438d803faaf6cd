import { afterEach, beforeEach, expect } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import type { StoreUnderTest } from '../../store-contract/store-under-test.ts';
import type { Body, Reply } from './api-fixture.ts';
import { type BackendName, useBackend } from './backends.ts';
import { published, startBody } from './documents.ts';
import { createLiveApi, type LiveApi } from './live-api.ts';

export const HOUR = 3_600_000;
export const NOWHERE = '01900000-0000-7000-8000-00000000dead';
export const at = (ms: number): string => new Date(ms).toISOString();
export const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

/** A live API with what tests of runs that stand still do to them. Breakers stay open for an hour. */
export interface StandingRuns {
  readonly api: LiveApi;
  readonly underTest: StoreUnderTest;
  readonly get: (path: string) => Promise<Body>;
  readonly post: (path: string, body?: JsonObject) => Promise<Reply>;
  readonly publish: (...blocks: readonly JsonObject[]) => Promise<string>;
  /** Starts an instance and lets happen all that can happen at once. */
  readonly start: (sequenceId: string, overrides?: JsonObject) => Promise<string>;
  readonly run: (...blocks: readonly JsonObject[]) => Promise<string>;
  readonly state: (id: string) => Promise<string>;
  /** Codes of its diagnoses. */
  readonly codes: (id: string) => Promise<readonly string[]>;
  /** The timers that a wake has ended. */
  readonly wake: (id: string, body?: JsonObject) => Promise<Body>;
}

export function useStandingRuns(backendName: BackendName): StandingRuns {
  const backend = useBackend(backendName);
  let current: { readonly api: LiveApi; readonly underTest: StoreUnderTest } | undefined;
  beforeEach(async () => {
    const underTest = await backend.fresh();
    const breakers = { threshold: 5, cooldownMs: HOUR };
    current = { underTest, api: createLiveApi(underTest, {}, { engine: { breakers } }) };
  });
  afterEach(() => current?.api.stop());
  const now = () => {
    if (current === undefined) throw new Error('There is an API only while a test runs.');
    return current;
  };
  const runs: StandingRuns = {
    get api() {
      return now().api;
    },
    get underTest() {
      return now().underTest;
    },
    get: async (path) => (await now().api.call('GET', path)).body,
    post: (path, body) => now().api.call('POST', path, body === undefined ? {} : { body }),
    publish: (...blocks) => published(now().api as never, { name: `s-${nextId()}`, blocks }),
    start: async (sequenceId, overrides = {}) => {
      const reply = await runs.post('/instances', startBody(sequenceId, overrides));
      expect(reply.status).toBe(201);
      await now().api.time.calm();
      return reply.body.id as string;
    },
    run: async (...blocks) => runs.start(await runs.publish(...blocks)),
    state: async (id) => (await runs.get(`/instances/${id}`)).state,
    codes: async (id) =>
      (await runs.get(`/instances/${id}/diagnosis`)).diagnoses.map(({ code }: { code: string }) => code),
    wake: async (id, body) => {
      const reply = await runs.post(`/instances/${id}/wake`, body);
      expect(reply.status).toBe(200);
      await now().api.time.calm();
      return reply.body.woken;
    },
  };
  return runs;
}
