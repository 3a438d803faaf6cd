import * as z from 'zod';
import { notFound } from '../../engine/refusal.ts';
import { defineRoute, okay } from '../route.ts';
import { OutputBody, OutputList, showOutput } from '../schemas/output.ts';
import {
  BooleanParameter,
  CountParameter,
  FilterParameter,
  IdPath,
  Uuid,
  UuidFilter,
} from '../schemas/wire-values.ts';

const tag = 'instances';

/** Bytes of outputs in one answer that are shown without being asked for ([EXT-2]). */
const INLINE_BYTES = 1024 * 1024;

const list = defineRoute({
  method: 'GET',
  path: '/instances/{id}/outputs',
  tag,
  summary:
    'Block outputs, oldest first. include=markers adds the rows of failed tries. Large outputs behind the first MiB are left out unless inline=true; they are read one by one',
  params: IdPath,
  query: z.object({
    include: FilterParameter,
    inline: BooleanParameter.default(false),
    block_id: z.string().exactOptional(),
    iteration: z.string().exactOptional(),
    before: UuidFilter,
    limit: CountParameter.exactOptional(),
  }),
  responses: { 200: OutputList },
  handle: async ({ store }, { caller, path, filter }) => {
    const rows = await store.listOutputs(caller.tenantId, path.id, {
      node: false,
      retry: filter.include === 'markers',
      blockId: filter.block_id ?? null,
      iteration: filter.iteration ?? null,
      beforeId: filter.before,
      ...(filter.limit === undefined ? {} : { limit: filter.limit }),
      ...(filter.inline ? {} : { inlineBytes: INLINE_BYTES }),
    });
    return rows === null ? notFound('instance', path.id) : okay(rows.map(showOutput));
  },
});

const get = defineRoute({
  method: 'GET',
  path: '/instances/{id}/outputs/{output_id}',
  tag,
  summary: 'One block output, whatever its size',
  params: IdPath.extend({ output_id: Uuid }),
  query: z.object({}),
  responses: { 200: OutputBody },
  handle: async ({ store }, { caller, path }) => {
    const row = await store.getOutput(caller.tenantId, path.id, path.output_id);
    return row === null ? notFound('output', path.output_id) : okay(showOutput(row));
  },
});

export const outputRoutes = [list, get];
