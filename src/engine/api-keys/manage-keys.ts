import { sha256Hex } from '../../core/digest.ts';
import { ok, type Result } from '../../core/result.ts';
import type { ApiKey, Capability } from '../../ports/store/api-keys.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { UseCaseDeps } from '../use-case.ts';
import { newKeySecret } from './key-secret.ts';

export interface ApiKeyInput {
  readonly tenantId: string;
  readonly name: string;
  readonly capabilities: readonly Capability[];
  readonly expiresAt: number | null;
}

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Shown once, in the answer that creates the key. */
  readonly secret: string;
}

const ID_BYTES = 16;

/** Makes a key of a tenant (http-api.md 24). An empty list of capabilities means `operator`; a blank tenant is 400. */
export async function createApiKey(
  deps: UseCaseDeps,
  input: ApiKeyInput,
): Promise<Result<CreatedApiKey, Refusal>> {
  if (input.tenantId.trim() === '') return refuse('invalid_argument', 'tenant_id must not be empty');
  const secret = newKeySecret(deps.entropy);
  const id = `ak_${Array.from(deps.entropy.bytes(ID_BYTES), hexByte).join('')}`;
  const capabilities = input.capabilities.length === 0 ? (['operator'] as const) : input.capabilities;
  const key = await deps.store.insertApiKey({
    id,
    tenantId: input.tenantId,
    name: input.name,
    capabilities: [...new Set(capabilities)],
    secretHash: sha256Hex(secret),
    expiresAt: input.expiresAt,
  });
  return ok({ key, secret });
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
