import { PGlite } from '@electric-sql/pglite';
import { createPgDriver } from '../src/adapters/postgres/drivers/pg.ts';
import { createPGliteDriver } from '../src/adapters/postgres/drivers/pglite.ts';
import type { SqlDriver } from '../src/adapters/postgres/driver.ts';
import { migrate } from '../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../src/adapters/postgres/store.ts';
import type { Store } from '../src/ports/store/store.ts';
import type { Claim, TurnCommit } from '../src/ports/store/turn.ts';
import { frame, leaf, newInstance, nextId, row, settleAs, turnOf } from '../test/support/turn-builder.ts';

/**
 * What the commit path alone costs, without an engine: lone commits one after the other, and group commits of many
 * instances. Prints figures, asserts nothing.
 *
 *   npx tsx bench/commit-path.ts <connection string of an empty database> | pglite
 */
const target = process.argv[2] ?? 'pglite';

async function openDriver(): Promise<SqlDriver> {
  return target === 'pglite'
    ? createPGliteDriver(await PGlite.create())
    : createPgDriver({ connectionString: target, poolSize: 4 });
}

/** The commit of a leaf in the middle of a flat run: its result, the cursor, the intent of the next leaf. */
function step(claim: Claim, rev: number): TurnCommit {
  const at = claim.leaseUntil;
  const next = frame({ cursor: rev + 1, leaf: leaf({ startedAt: at, dispatchedAt: at }) });
  return turnOf(claim, {
    rev,
    hasResult: true,
    stepsDelta: 1,
    rows: [row({ blockId: `step-${rev}`, output: { ok: true, order: 'A-1042', total: 1250 } })],
    frames: [{ frame: { ...next, leaf: null }, intent: next }],
    instance: { currentStep: { blockId: `step-${rev + 1}`, startedAt: at, attempt: 0 } },
  });
}

async function startClaimed(store: Store, count: number): Promise<readonly Claim[]> {
  const lease = { leaseToken: nextId(), leaseOwner: 'bench', leaseMs: 600_000 };
  const instances = Array.from({ length: count }, () =>
    newInstance({ data: { order: 'A-1042', lines: [1, 2, 3] } }),
  );
  const answer = await store.start({ instances, onKnownKey: 'first', lease });
  if (answer.status !== 'ok') throw new Error(answer.status);
  return answer.started.flatMap(({ claim }) => claim ?? []);
}

async function measure(name: string, units: number, act: () => Promise<void>): Promise<void> {
  const before = process.hrtime.bigint();
  await act();
  const seconds = Number(process.hrtime.bigint() - before) / 1e9;
  const each = (seconds / units) * 1e6;
  console.log(
    `${name.padEnd(44)} ${Math.round(units / seconds)
      .toString()
      .padStart(8)} /s  ${each.toFixed(1).padStart(8)} us`,
  );
}

async function loneCommits(store: Store, count: number): Promise<void> {
  const [claim] = await startClaimed(store, 1);
  if (claim === undefined) throw new Error('not claimed');
  for (let rev = 0; rev < count; rev += 1) {
    const { verdicts } = await store.commit([step(claim, rev)]);
    if (verdicts[0]?.verdict !== 'ok') throw new Error(`lone commit ${rev}: ${JSON.stringify(verdicts)}`);
  }
}

async function groupCommits(store: Store, claims: readonly Claim[], rounds: number): Promise<void> {
  for (let rev = 0; rev < rounds; rev += 1) {
    const { verdicts } = await store.commit(claims.map((claim) => step(claim, rev)));
    const odd = verdicts.find(({ verdict }) => verdict !== 'ok');
    if (odd !== undefined) throw new Error(`group commit ${rev}: ${JSON.stringify(odd)}`);
  }
}

async function oneStepRuns(store: Store, count: number): Promise<void> {
  for (let done = 0; done < count; ) {
    const request = {
      leaseToken: nextId(),
      leaseOwner: 'bench',
      leaseMs: 60_000,
      limit: 250,
      perTenantLimit: 0,
    };
    const { claims } = await store.claimDue(request);
    if (claims.length === 0) throw new Error(`nothing due after ${done}`);
    await store.commit(
      claims.map((claim) =>
        turnOf(claim, {
          hasResult: true,
          stepsDelta: 1,
          strict: true,
          rows: [row()],
          settle: settleAs('completed'),
        }),
      ),
    );
    done += claims.length;
  }
}

async function main(): Promise<void> {
  const driver = await openDriver();
  await migrate(driver);
  const store = createPostgresStore(driver);
  const scale = target === 'pglite' ? 0.2 : 1;
  const times = (count: number): number => Math.max(1, Math.round(count * scale));
  await loneCommits(store, times(300));
  await measure('round trip (ping)', times(1000), async () => {
    for (let index = 0; index < times(1000); index += 1) await store.ping();
  });
  await measure('lone commits', times(3000), () => loneCommits(store, times(3000)));
  const claims = await startClaimed(store, 100);
  await measure('group commits of 100', times(100) * 100, () => groupCommits(store, claims, times(100)));
  const more = await startClaimed(store, 500);
  await measure('group commits of 500', times(40) * 500, () => groupCommits(store, more, times(40)));
  await measure('lone starts', times(1000), async () => {
    for (let index = 0; index < times(1000); index += 1)
      await store.start({ instances: [newInstance()], onKnownKey: 'first' });
  });
  await measure('starts in batches of 500', times(20) * 500, async () => {
    for (let index = 0; index < times(20); index += 1)
      await store.start({ instances: Array.from({ length: 500 }, () => newInstance()), onKnownKey: 'first' });
  });
  const due = times(1000) + times(20) * 500;
  await measure('claim 250, run one step, settle completed', due, () => oneStepRuns(store, due));
  await store.close();
}

await main();
