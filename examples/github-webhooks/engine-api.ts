import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { ApprovalBody } from '../../src/api/schemas/approval.ts';
import { InstanceBody } from '../../src/api/schemas/instance.ts';
import { TreeBody } from '../../src/api/schemas/tree.ts';
import type { TreeNode } from '../../src/cli/show/tree.ts';
import type { JsonObject } from '../../src/core/json.ts';

/**
 * Calls to the engine by somebody who is not put off by its death: no answer, or one of status 5xx, is tried again until
 * the deadline. That is safe for every call of the example because each carries a key or is a read.
 */
export interface EngineApi {
  readonly publish: (sequence: JsonObject) => Promise<void>;
  readonly createTrigger: (trigger: JsonObject) => Promise<void>;
  readonly webhook: (slug: string, body: string, headers: Record<string, string>) => Promise<string>;
  readonly approvals: (namespace: string) => Promise<readonly Approval[]>;
  readonly signal: (instanceId: string, body: JsonObject) => Promise<void>;
  readonly instances: (namespace: string) => Promise<readonly Instance[]>;
  readonly tree: (instanceId: string) => Promise<readonly TreeNode[]>;
}

export type Instance = InstanceBody;

export type Approval = z.infer<typeof ApprovalBody>;

const Page = z.object({ items: z.array(InstanceBody) });
const Approvals = z.object({ items: z.array(ApprovalBody) });
const WebhookAnswer = z.looseObject({ instance_id: z.string() });

const PAUSE_MS = 100;

export function createEngineApi(url: string, deadlineAt: number): EngineApi {
  const call = async (method: string, path: string, body?: string, headers?: Record<string, string>) => {
    for (;;) {
      const answer = await attempt(`${url}${path}`, method, body, headers);
      if (answer !== null && answer.status < 300) return answer.body;
      if (answer !== null && answer.status < 500) {
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      if (Date.now() > deadlineAt) throw new Error(`${method} ${path}: no good answer before the deadline`);
      await delay(PAUSE_MS);
    }
  };
  const post = (path: string, body: JsonObject) =>
    call('POST', `/api/v1${path}`, JSON.stringify(body), { 'content-type': 'application/json' });
  const get = (path: string) => call('GET', `/api/v1${path}`);
  return {
    publish: async (sequence) => void (await post('/sequences', sequence)),
    createTrigger: async (trigger) => void (await post('/triggers', trigger)),
    webhook: async (slug, body, headers) =>
      WebhookAnswer.parse(await call('POST', `/webhooks/${slug}`, body, headers)).instance_id,
    approvals: async (namespace) =>
      Approvals.parse(await get(`/approvals?namespace=${namespace}&limit=1000`)).items,
    signal: async (instanceId, body) => void (await post(`/instances/${instanceId}/signals`, body)),
    instances: async (namespace) =>
      Page.parse(await get(`/instances?namespace=${namespace}&limit=1000`)).items,
    tree: async (instanceId) => TreeBody.parse(await get(`/instances/${instanceId}/tree`)),
  };
}

/** Null when nobody answered. */
async function attempt(
  url: string,
  method: string,
  body: string | undefined,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: unknown } | null> {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'x-tenant-id': 'default', ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(5000),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  } catch {
    return null;
  }
}
