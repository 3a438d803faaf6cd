import { expect, it } from 'vitest';
import type { NewInstance } from '../../src/ports/store/accept.ts';
import { TENANT, auditEntry, newInstance, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld, type World } from './world.ts';

const startAll = (world: World, instances: readonly NewInstance[], maxActive: number) =>
  world.store.start({
    instances,
    onKnownKey: 'first',
    activeLimits: [{ tenantId: TENANT, maxActive }],
  });

/** Registers what every store must do about plans that bound active instances (http-api.md 26). */
export function describePlans(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const full = { status: 'plan_full', tenantId: TENANT };

  it('as many instances may be active as the plan says, dry runs included, all of a start or none', async () => {
    await world.start({ tenantId: 'dunes' });
    expect(await startAll(world, [newInstance(), newInstance({ dryRun: true })], 3)).toMatchObject({
      status: 'ok',
    });
    const [one, two] = [newInstance(), newInstance()];
    expect(await startAll(world, [one, two], 3)).toEqual(full);
    expect(await world.store.getInstance(null, one.id)).toBeNull();
    expect(await startAll(world, [one], 3)).toMatchObject({ status: 'ok' });
    expect(await startAll(world, [two], 3)).toEqual(full);
  });

  it('an instance that ended makes room, one that waits or is paused does not', async () => {
    const running = newInstance();
    await startAll(world, [running], 2);
    await world.inState('paused');
    expect(await startAll(world, [newInstance()], 2)).toEqual(full);
    const claim = await world.claim(running.id);
    const audit = [auditEntry('running', 'completed')];
    await world.apply(turnOf(claim, { audit, settle: settleAs('completed') }));
    expect(await startAll(world, [newInstance()], 2)).toMatchObject({ status: 'ok' });
  });

  it('as many instances may be started within a second as the plan says, all of a start or none', async () => {
    const startsPerSec = 3;
    const starts = (...instances: readonly NewInstance[]) =>
      world.store.start({
        instances,
        onKnownKey: 'first',
        activeLimits: [{ tenantId: TENANT, startsPerSec }],
      });
    const tooFast = { status: 'plan_rate', tenantId: TENANT };
    await world.start({ tenantId: 'dunes' });
    const [one, two] = [newInstance(), newInstance({ idempotencyKey: 'k' })];
    expect(await starts(newInstance(), newInstance({ dryRun: true }))).toMatchObject({ status: 'ok' });
    expect(await starts(one, two)).toEqual(tooFast);
    expect(await world.store.getInstance(null, one.id)).toBeNull();
    expect(await starts(two)).toMatchObject({ status: 'ok' });
    expect(await starts(one)).toEqual(tooFast);
    expect(await starts(newInstance({ idempotencyKey: 'k' }))).toMatchObject({ status: 'ok' });
    await world.advance(999);
    expect(await starts(one)).toEqual(tooFast);
    await world.advance(1);
    expect(await starts(one, newInstance(), newInstance())).toMatchObject({ status: 'ok' });
  });

  it('a repeated start is answered as the first one, however full the plan is', async () => {
    const first = newInstance({ idempotencyKey: 'k' });
    await startAll(world, [first], 1);
    expect(await startAll(world, [newInstance({ idempotencyKey: 'k' })], 1)).toMatchObject({
      status: 'ok',
      started: [{ id: first.id, deduplicated: true }],
    });
    expect(await startAll(world, [first], 1)).toMatchObject({ status: 'ok', started: [{ id: first.id }] });
  });
}
