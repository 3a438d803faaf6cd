import * as z from 'zod';
import type { ApiClient } from './api-client.ts';

const Failed = z.array(
  z.looseObject({
    id: z.string(),
    failed_block_id: z.string().nullable(),
    error: z.looseObject({ message: z.string().optional(), code: z.string().optional() }).nullable(),
  }),
);

/** The first line of what each failed instance of a list failed of. Those that cannot be had are left out. */
export async function failuresOf(
  client: ApiClient,
  filter: URLSearchParams,
): Promise<ReadonlyMap<string, string>> {
  const query = new URLSearchParams(filter);
  query.delete('state');
  const answer = await client.get(`/instances/dlq?${query.toString()}`, Failed);
  if (!answer.ok) return new Map();
  return new Map(
    answer.value.map(({ id, failed_block_id: block, error }) => {
      const where = block === null ? '' : `${block}: `;
      return [id, `${where}${(error?.message ?? error?.code ?? 'failed').split('\n')[0] ?? ''}`];
    }),
  );
}
