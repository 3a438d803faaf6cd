import { expect, it } from 'vitest';
import type { SequenceRecord } from '../../src/ports/store/catalog.ts';
import {
  TENANT,
  auditEntry,
  nextId,
  row,
  sequence,
  settleAs,
  task,
  trigger,
  turnOf,
} from '../support/turn-builder.ts';
import { ALL_STATES, ENDED_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeCatalog(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const name = { tenantId: TENANT, namespace: 'fulfilment', name: 'parcel-return' };
  const publish = async (overrides: Parameters<typeof sequence>[0] = {}): Promise<string> => {
    const published = sequence(overrides);
    expect(await world.store.insertSequence(published)).toBe('created');
    return published.id;
  };
  const versionsOf = (rows: readonly SequenceRecord[]): readonly number[] =>
    rows.map(({ version }) => version);

  it('a published sequence is read back as it was given, with its instant [PUB-5]', async () => {
    const given = sequence({ definition: { name: 'parcel-return', blocks: [{ type: 'step', id: 'a' }] } });
    expect(await world.store.insertSequence(given)).toBe('created');
    const record = { ...given, createdAt: await world.now() };
    expect(await world.store.getSequence(TENANT, given.id)).toEqual(record);
    expect(await world.store.getSequence(null, given.id)).toEqual(record);
    expect(await world.store.getSequence('other', given.id)).toBeNull();
    expect(await world.store.getSequence(null, nextId())).toBeNull();
  });

  it('an id and a version of a name are taken once [PUB-6]', async () => {
    const id = await publish();
    expect(await world.store.insertSequence(sequence({ id, version: 2 }))).toBe('id_exists');
    expect(await world.store.insertSequence(sequence())).toBe('version_exists');
    for (const other of [{ version: 2 }, { name: 'x' }, { namespace: 'x' }, { tenantId: 'x' }]) {
      expect(await world.store.insertSequence(sequence(other))).toBe('created');
    }
    expect(await world.store.getSequence(null, id)).toMatchObject({ version: 1 });
  });

  it('a deployment becomes the newest version under the row of its name, and an earlier one changes nothing', async () => {
    const deploy = (
      contentHash: string,
      deployedAt: number | null,
      newestSeen: number | null,
      brings = true,
    ) => {
      const version = (newestSeen ?? 0) + 1;
      const next = brings ? sequence({ version, definition: { contentHash } }) : null;
      return world.store.publishDeployed({ ...name, sequence: next, newestSeen, contentHash, deployedAt });
    };
    const now = await world.now();
    expect(await deploy('b', now + 2_000, null)).toBe('published');
    expect(await deploy('b', now + 2_000, 1)).toBe('known');
    expect(await deploy('a', now + 1_000, 1)).toBe('superseded');
    expect(await deploy('a', now + 3_000, null)).toBe('moved');
    expect(await deploy('b', now + 3_000, 1)).toBe('known');
    expect(await deploy('a', now + 2_500, 1)).toBe('superseded');
    expect(await deploy('a', now + 4_000, 1, false)).toBe('known');
    expect(await deploy('b', now + 5_000, 1)).toBe('published');
    expect(versionsOf(await world.store.listVersions(name))).toEqual([2, 1]);
    const newest = await world.store.findSequence({ ...name, version: null });
    expect(newest).toMatchObject({ version: 2, definition: { contentHash: 'b' }, createdAt: now });
    // Without an instant it comes after all, also after those whose clocks are ahead.
    expect(await deploy('c', null, 2)).toBe('published');
    expect(await deploy('d', now + 4_000, 3)).toBe('superseded');
    expect(await deploy('d', now + 6_000, 3)).toBe('published');
  });

  it('a deployment that clashes changes nothing, and one after all versions were deleted publishes', async () => {
    const deployed = { ...name, newestSeen: null, contentHash: 'a', deployedAt: null };
    const id = await publish({ name: 'other' });
    const clash = sequence({ id });
    expect(await world.store.publishDeployed({ ...deployed, sequence: clash })).toBe('id_exists');
    const first = sequence();
    expect(await world.store.publishDeployed({ ...deployed, sequence: first })).toBe('published');
    expect(await world.store.deleteSequence(TENANT, first.id)).toBe('deleted');
    expect(await world.store.publishDeployed({ ...deployed, sequence: sequence() })).toBe('published');
  });

  it('a name means its highest version that is not deprecated, whatever its status [VER-4]', async () => {
    for (const version of [9, 10, 11]) await publish({ version, status: 'draft' });
    await publish({ version: 12, deprecated: true });
    expect((await world.store.findSequence({ ...name, version: null }))?.version).toBe(11);
    expect((await world.store.findSequence({ ...name, version: 12 }))?.version).toBe(12);
    expect(await world.store.findSequence({ ...name, version: 13 })).toBeNull();
    expect(await world.store.findSequence({ ...name, name: 'unknown', version: null })).toBeNull();
    expect(await world.store.findSequence({ ...name, tenantId: 'other', version: null })).toBeNull();
  });

  it('a name with nothing but deprecated versions is not found without a version [VER-4]', async () => {
    await publish({ deprecated: true });
    expect(await world.store.findSequence({ ...name, version: null })).toBeNull();
  });

  it('sequences are listed by tenant, namespace, name and version descending, deprecated ones included', async () => {
    await publish({ tenantId: 'b', namespace: 'a', name: 'a' });
    await publish({ tenantId: 'a', namespace: 'b', name: 'a' });
    await publish({ tenantId: 'a', namespace: 'a', name: 'b' });
    await publish({ tenantId: 'a', namespace: 'a', name: 'a', version: 2, deprecated: true });
    await publish({ tenantId: 'a', namespace: 'a', name: 'a', version: 10 });
    const list = async (tenantId: string | null, namespace: string | null, limit = 10, offset = 0) =>
      (await world.store.listSequences({ tenantId, namespace, limit, offset })).map((found) =>
        [found.tenantId, found.namespace, found.name, found.version].join(' '),
      );
    expect(await list(null, null)).toEqual(['a a a 10', 'a a a 2', 'a a b 1', 'a b a 1', 'b a a 1']);
    expect(await list('a', 'a')).toEqual(['a a a 10', 'a a a 2', 'a a b 1']);
    expect(await list(null, 'b')).toEqual(['a b a 1']);
    expect(await list(null, null, 2, 1)).toEqual(['a a a 2', 'a a b 1']);
  });

  it('deprecating hides a version from look-up by name and from the list of versions [VER-3]', async () => {
    await publish();
    const second = await publish({ version: 2 });
    await publish({ version: 3 });
    expect(versionsOf(await world.store.listVersions(name))).toEqual([3, 2, 1]);
    expect(await world.store.deprecateSequence('other', second)).toBe(false);
    expect(await world.store.deprecateSequence(TENANT, second)).toBe(true);
    expect(await world.store.deprecateSequence(null, second)).toBe(true);
    expect(await world.store.deprecateSequence(null, nextId())).toBe(false);
    expect(versionsOf(await world.store.listVersions(name))).toEqual([3, 1]);
    expect(await world.store.getSequence(null, second)).toMatchObject({ deprecated: true });
    expect(await world.store.listVersions({ ...name, name: 'unknown' })).toEqual([]);
  });

  it('a status changes only from the expected one [VER-2]', async () => {
    const id = await publish({ status: 'draft' });
    expect(await world.store.setSequenceStatus(null, id, 'staging', 'production')).toBe('stale');
    expect(await world.store.setSequenceStatus('other', id, 'draft', 'staging')).toBe('not_found');
    expect(await world.store.setSequenceStatus(null, nextId(), 'draft', 'staging')).toBe('not_found');
    expect(await world.store.setSequenceStatus(TENANT, id, 'draft', 'staging')).toBe('changed');
    expect(await world.store.getSequence(null, id)).toMatchObject({ status: 'staging', deprecated: false });
  });

  it('unpublishing deprecates as well [VER-2]', async () => {
    const id = await publish();
    expect(await world.store.setSequenceStatus(null, id, 'production', 'unpublished')).toBe('changed');
    expect(await world.store.getSequence(null, id)).toMatchObject({
      status: 'unpublished',
      deprecated: true,
    });
  });

  for (const state of ALL_STATES) {
    const ended = state === 'completed' || state === 'failed' || state === 'cancelled';
    it(`a version whose instance is ${state} ${ended ? 'is deleted with it' : 'is in use'} [VER-5]`, async () => {
      const sequenceId = await publish();
      const id = await withSequence(sequenceId, state);
      expect(await world.store.deleteSequence('other', sequenceId)).toBe('not_found');
      expect(await world.store.deleteSequence(TENANT, sequenceId)).toBe(ended ? 'deleted' : 'in_use');
      expect((await world.store.getSequence(null, sequenceId)) === null).toBe(ended);
      expect((await world.store.getInstance(null, id)) === null).toBe(ended);
    });
  }

  it('a deleted version leaves nothing of its instances behind [VER-5]', async () => {
    const sequenceId = await publish();
    const id = await world.start({ sequenceId, idempotencyKey: 'order-1' });
    const created = task();
    const key = { tenantId: TENANT, instanceId: id };
    const claim = await world.claim(id);
    await world.apply(
      turnOf(claim, { rows: [row()], kv: [{ key: 'k', value: 1 }], tasksCreated: [created] }),
    );
    const audit = [auditEntry('running', 'completed')];
    await world.apply(turnOf(claim, { rev: 1, audit, settle: settleAs('completed') }));
    expect(await world.store.deleteSequence(null, sequenceId)).toBe('deleted');
    expect(await world.store.readOutputs(key, 'all')).toEqual(new Map());
    expect(await world.store.readState(key, 'all')).toEqual(new Map());
    expect(await world.store.listAudit(null, id, 10)).toBeNull();
    expect(await world.store.listTaskEvents(null, created.id, 10)).toBeNull();
    // The key is free again.
    const again = await world.start({ idempotencyKey: 'order-1' });
    expect((await world.view(again)).id).toBe(again);
    expect(await world.store.deleteSequence(null, sequenceId)).toBe('not_found');
  });

  async function withSequence(sequenceId: string, state: (typeof ALL_STATES)[number]): Promise<string> {
    const id = await world.start({ sequenceId });
    if (state === 'scheduled') return id;
    const claim = await world.claim(id);
    if (state === 'running') return id;
    const dueAt = ENDED_STATES.some((ended) => ended === state) ? null : (await world.now()) + 900_000;
    const audit = [auditEntry('running', state)];
    await world.apply(turnOf(claim, { audit, settle: settleAs(state, { dueAt }) }));
    return id;
  }

  it('a trigger is read back as it was given, with its instants', async () => {
    const given = trigger({ secret: 's3cret', version: 4, config: { signature: { scheme: 'github' } } });
    expect(await world.store.insertTrigger(given)).toBe('created');
    const now = await world.now();
    const record = { ...given, createdAt: now, updatedAt: now };
    expect(await world.store.getTrigger(TENANT, 'orders')).toEqual(record);
    expect(await world.store.getTrigger(null, 'orders')).toEqual(record);
    expect(await world.store.getTrigger('other', 'orders')).toBeNull();
    expect(await world.store.getTrigger(null, 'unknown')).toBeNull();
  });

  it('a slug is taken over all tenants', async () => {
    await world.store.insertTrigger(trigger());
    expect(await world.store.insertTrigger(trigger({ tenantId: 'other' }))).toBe('exists');
    expect((await world.store.getTrigger(null, 'orders'))?.tenantId).toBe(TENANT);
  });

  it('triggers are listed by slug, up to the limit, and deleted by their tenant', async () => {
    for (const slug of ['b', 'c', 'a']) await world.store.insertTrigger(trigger({ slug }));
    await world.store.insertTrigger(trigger({ slug: 'aa', tenantId: 'other' }));
    const slugs = async (tenantId: string | null, limit = 10): Promise<readonly string[]> =>
      (await world.store.listTriggers(tenantId, limit)).map(({ slug }) => slug);
    expect(await slugs(null)).toEqual(['a', 'aa', 'b', 'c']);
    expect(await slugs(TENANT, 2)).toEqual(['a', 'b']);
    expect(await world.store.deleteTrigger('other', 'a')).toBe(false);
    expect(await world.store.deleteTrigger(TENANT, 'a')).toBe(true);
    expect(await world.store.deleteTrigger(null, 'a')).toBe(false);
    expect(await slugs(TENANT)).toEqual(['b', 'c']);
  });
}
