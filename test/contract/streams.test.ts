import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBackend } from '../api/support/backends.ts';
import { type ReadEvent, readEvents } from '../api/support/read-events.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import { misfits } from './support/documented.ts';
import type { Members } from './support/notation.ts';
import { type RichRuns, richRuns } from './support/rich-runs.ts';
import { specified } from './support/specified.ts';

const STATE = 'scheduled|running|waiting|paused|completed|failed|cancelled';
/** The events of http-api.md 5.6 and 22, and `node` of dashboard.md A2. */
const DATA: Readonly<Record<string, string | Members>> = {
  state: { instance_id: 'uuid', state: STATE },
  output: '@output',
  node: '@node',
  done: { state: STATE },
  change: '@audit',
};

describe('the events of a stream (http-api.md 5.6, 22)', () => {
  const backend = useBackend('memory');
  let world: ContractWorld;
  let runs: RichRuns;
  beforeAll(async () => {
    world = await createContractWorld(backend);
    runs = await richRuns(world);
  });
  afterAll(() => world.api.stop());

  const read = async (path: string): Promise<readonly ReadEvent[]> => {
    const reply = await world.send('GET', `/api/v1${path}`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    return readEvents(reply.text);
  };
  const faultsOf = (events: readonly ReadEvent[]): readonly string[] =>
    events.flatMap(({ event, data }) => {
      const shape = DATA[event];
      return shape === undefined ? [`nobody knows ${event}`] : misfits(specified(shape), data);
    });

  it.each(['completed', 'failed'] as const)(
    'of a %s instance have the members of the tables',
    async (end) => {
      const events = await read(`/instances/${runs[end]}/stream?include=nodes`);
      expect(faultsOf(events)).toEqual([]);
      expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['state', 'output', 'node', 'done']));
      expect(events.at(-1)).toMatchObject({ event: 'done', data: { state: end } });
      const rows = await world.call('GET', `/instances/${runs[end]}/outputs`);
      const told = events.filter(({ event }) => event === 'output').map(({ data }) => data);
      expect(told).toEqual(rows);
    },
  );

  it('say nothing of nodes unless they are asked for', async () => {
    const events = await read(`/instances/${runs.completed}/stream`);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['state', 'output', 'done']));
  });

  it('of changes have the entry as data and its cursor as id', async () => {
    const events = await read('/changes/stream');
    expect(faultsOf(events)).toEqual([]);
    const { changes } = await world.call('GET', '/changes?limit=500');
    expect(events.map(({ data }) => data)).toEqual(changes);
    for (const { id, data } of events) {
      const cursor = JSON.parse(Buffer.from(id ?? '', 'base64url').toString());
      expect(cursor).toEqual({ created_at: data.created_at, id: data.id });
    }
  });

  it('of changes go on behind a cursor, and behind the last event that a client has seen', async () => {
    const events = await read('/changes/stream');
    const [first] = events;
    const rest = events.slice(1).map(({ id }) => id);
    expect((await read(`/changes/stream?cursor=${first?.id}`)).map(({ id }) => id)).toEqual(rest);
    const reply = await world.send('GET', '/api/v1/changes/stream', {
      headers: { 'last-event-id': first?.id ?? '' },
    });
    expect(readEvents(reply.text).map(({ id }) => id)).toEqual(rest);
  });
});
