import { nearestName } from '../../core/definition/did-you-mean.ts';
import * as z from 'zod';
import type { ApiClient } from './api-client.ts';
import { SequenceAnswer } from './schemas.ts';

/** Sequences that are asked for by name in one list; what is beyond shows its id. */
const ASKED_MAX = 50;
const NAMES_MAX = 1000;

const SequencePage = z.looseObject({ items: z.array(SequenceAnswer) });

/** Name and version of each sequence by its id, as `hello v2`. Those that cannot be had are left out. */
export async function sequenceNames(
  client: ApiClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)].slice(0, ASKED_MAX);
  const answers = await Promise.all(asked.map((id) => client.get(`/sequences/${id}`, SequenceAnswer)));
  return new Map(
    answers.flatMap((answer, index): readonly (readonly [string, string])[] => {
      const id = asked[index];
      return id === undefined || !answer.ok ? [] : [[id, `${answer.value.name} v${answer.value.version}`]];
    }),
  );
}

/** The names that are published, and whether one is among them. `namespace: null`: in any. Null: it cannot be found out. */
export async function findName(
  client: ApiClient,
  {
    name,
    tenant,
    namespace,
  }: { readonly name: string; readonly tenant: string; readonly namespace: string | null },
): Promise<{
  readonly isThere: boolean;
  readonly near: string | undefined;
  readonly elsewhere: string | undefined;
} | null> {
  const query = new URLSearchParams({ tenant_id: tenant, limit: String(NAMES_MAX) });
  const page = await client.get(`/sequences?${query.toString()}`, SequencePage);
  if (!page.ok) return null;
  const { items } = page.value;
  const inScope = items.filter((item) => namespace === null || item.namespace === namespace);
  return {
    isThere: inScope.some((item) => item.name === name) || (items.length >= NAMES_MAX && namespace === null),
    near: nearestName(name, new Set(inScope.map((item) => item.name))),
    elsewhere: items.find((item) => item.name === name && item.namespace !== namespace)?.namespace,
  };
}
