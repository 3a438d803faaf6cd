import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import { explainInstance } from '../../src/engine/explain-instance.ts';
import { publishSequence } from '../../src/engine/publish-sequence.ts';
import { readTree } from '../../src/engine/read-tree.ts';
import type { WorkerTask } from '../../src/ports/store/accept.ts';
import { createPgStoreUnderTest } from '../postgres/store-database.ts';
import type { StoreUnderTest } from '../store-contract/store-under-test.ts';
import { step } from './support/blocks.ts';
import { LEASE_MS, SWEEP_MS } from './support/engine-process.ts';
import type { Script } from './support/ledger.ts';
import { TENANT, TestEngine, type TestEngineOptions } from './support/test-engine.ts';

const ADMIN = { tenantId: null, isAdmin: true };
const OLD = { charge: {} };
const NEW = { charge: {}, 'charge@2': {} };
/** Several processes on one database look for each other's work. */
const settings = { tickMs: 100 };

type MakeStore = () => Promise<TestEngineOptions['store']>;

const stores: Readonly<Record<string, () => { make: MakeStore; close: () => Promise<void> }>> = {
  memory: () => ({ make: () => Promise.resolve(undefined), close: () => Promise.resolve() }),
  PostgreSQL: () => {
    let database: StoreUnderTest | null = null;
    return {
      make: async () => {
        database ??= await createPgStoreUnderTest();
        const underTest = database;
        await underTest.reset?.();
        return { store: underTest.store, advance: (ms) => underTest.advanceClock(ms) };
      },
      close: async () => database?.close(),
    };
  },
};

for (const [name, open] of Object.entries(stores)) {
  describe(`two builds over ${name} (RULINGS B8)`, () => {
    const { make, close } = open();
    afterAll(close);
    let world = new TestEngine();
    const begin = async (): Promise<TestEngine> => {
      const store = await make();
      world = new TestEngine(store === undefined ? { settings } : { settings, store });
      return world;
    };
    afterEach(() => {
      for (const process of world.processes) process.crash();
    });
    const tasks = (): Promise<readonly WorkerTask[]> =>
      world.store.listTasks({
        tenantId: null,
        states: [],
        handlerName: null,
        workerId: null,
        queueName: null,
        limit: 100,
        offset: 0,
      });
    const boot = (scripts: Readonly<Record<string, Script>>) => world.boot({ scripts });

    it('a step that only the new build can call is called there once and never becomes a task', async () => {
      await begin();
      const [old, fresh] = [boot(OLD), boot(NEW)];
      await world.time.pass(100);
      const sequence = await world.publish([step('book', 'charge'), step('pay', 'charge@2')]);
      const ids = [];
      for (let count = 0; count < 5; count += 1) ids.push(await world.start(sequence, { on: old }));
      for (const id of ids) {
        expect((await world.untilEnded(id)).state).toBe('completed');
        expect(world.ledger.of('pay', id)).toMatchObject([
          { process: fresh.name, attempt: 0, redelivery: false },
        ]);
      }
      expect(await tasks()).toEqual([]);
    });

    it('a process that has not heard of the others yet asks before it decides', async () => {
      await begin();
      boot(NEW);
      await world.time.pass(SWEEP_MS / 2);
      const idle = world.idle({ scripts: OLD });
      const id = await world.start(await world.publish([step('pay', 'charge@2')]), { on: idle });
      await world.untilEnded(id);
      expect([await tasks(), world.ledger.of('pay').length]).toEqual([[], 1]);
    });

    it('while it waits, the tree and the explanation say for what', async () => {
      await begin();
      const [old, fresh] = [boot(OLD), boot(NEW)];
      await world.time.pass(100);
      fresh.crash();
      const id = await world.start(await world.publish([step('pay', 'charge@2')]), { on: old });
      await world.time.pass(1000);
      const tree = await readTree(old.useCases, null, id);
      expect(tree).toMatchObject([{ state: 'waiting', reason: 'handler', attempt: 0 }]);
      const explained = await explainInstance(old.useCases, ADMIN, id);
      expect(explained).toMatchObject({ ok: true, value: { state: 'scheduled' } });
      expect(explained.ok && explained.value.summary).toContain("has the handler 'charge@2'");
    });

    it('a name that no build has announced for 90 s becomes a worker task', async () => {
      await begin();
      const [old, fresh] = [boot(OLD), boot(NEW)];
      await world.time.pass(100);
      fresh.crash();
      const id = await world.start(await world.publish([step('pay', 'charge@2')]), { on: old });
      await world.time.pass(85_000);
      expect(await tasks()).toEqual([]);
      await world.time.pass(20_000);
      expect(await tasks()).toMatchObject([{ blockId: 'pay', handlerName: 'charge@2', attempt: 0 }]);
      const task = await world.poll('charge@2');
      if (task === null) throw new Error('there is no task');
      await world.report(task, { ok: true, output: { receipt: 'r-1' } });
      expect((await world.untilEnded(id)).state).toBe('completed');
      expect(world.ledger.of('pay')).toEqual([]);
    });

    it('a call that a crash cut off is told of it, although a process without the handler took it over', async () => {
      await begin();
      const slow = { ...NEW, 'charge@2': { takesMs: 5000 } };
      const first = boot(slow);
      const id = await world.start(await world.publish([step('pay', 'charge@2')]), { on: first });
      await world.time.pass(1000);
      first.crash();
      const old = boot(OLD);
      await world.time.pass(LEASE_MS + SWEEP_MS);
      expect((await world.view(id)).state).toBe('scheduled');
      old.crash();
      boot(slow);
      await world.untilEnded(id, LEASE_MS + SWEEP_MS + 30_000);
      expect(world.ledger.of('pay').map(({ attempt, redelivery }) => [attempt, redelivery])).toEqual([
        [0, false],
        [0, true],
      ]);
      expect(await tasks()).toEqual([]);
    });

    it('a built-in of a later version fails at once, unless a worker polled for it within 120 s', async () => {
      await begin();
      boot(OLD);
      const sequence = await world.publish([step('send', 'llm_call')]);
      const failed = await world.untilEnded(await world.start(sequence), 100);
      expect(failed.failure?.error).toMatchObject({ code: 'HANDLER_NOT_AVAILABLE' });
      await world.poll('llm_call');
      await world.time.pass(SWEEP_MS);
      const id = await world.start(sequence);
      await world.untilState(id, 'waiting', 100);
      expect(await tasks()).toMatchObject([{ instanceId: id, handlerName: 'llm_call' }]);
      await world.time.pass(121_000);
      const late = await world.untilEnded(await world.start(sequence), 100);
      expect(late.failure?.error).toMatchObject({ code: 'HANDLER_NOT_AVAILABLE' });
    });

    it('publishing warns of no name that another build or a worker has', async () => {
      await begin();
      const [old] = [boot(OLD), boot(NEW)];
      await world.time.pass(100);
      await world.poll('label_print');
      const document: Json = {
        id: world.nextId(),
        tenant_id: TENANT,
        namespace: 'fulfilment',
        name: 'pay',
        version: 1,
        created_at: '2027-02-01T09:00:00.000Z',
        blocks: [step('a', 'charge@2'), step('b', 'label_print'), step('c', 'chrage')],
      };
      const published = await publishSequence(old.useCases, ADMIN, document);
      const warned = published.ok ? published.value.warnings : [];
      expect(warned.map(({ code, block_id }) => [code, block_id])).toEqual([['unknown_handler', 'c']]);
    });
  });
}
