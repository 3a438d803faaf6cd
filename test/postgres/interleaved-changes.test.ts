import { describe, expect, it } from 'vitest';
import type { ChangeCursor } from '../../src/ports/store/changes.ts';
import { TENANT, auditEntry, settleAs, turnOf } from '../support/turn-builder.ts';
import { commitOk, startClaimed } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';

const READERS = 2;
const WRITERS = 4;
const TURNS = 60;

describe('the change feed', () => {
  const sessions = useSessions(MIGRATED);

  const read = (session: Session, after: ChangeCursor | null = null) =>
    session.store.listChanges({ tenantId: TENANT, after, limit: 1000 });

  /** Commits one turn with one entry; answers the id of the entry. */
  const write = async (session: Session): Promise<string> => {
    const entry = auditEntry('running', 'waiting');
    const claim = await startClaimed(session.store);
    await commitOk(
      session.store,
      turnOf(claim, { audit: [entry], settle: settleAs('waiting', { openWaits: 1 }) }),
    );
    return entry.id;
  };

  /** Reads until the entry is there: it is held back for the rest of its millisecond. */
  const readUntil = async (session: Session, id: string): Promise<readonly string[]> => {
    for (;;) {
      const ids = (await read(session)).map((row) => row.id);
      if (ids.includes(id)) return ids;
    }
  };

  /** An entry is written in an open transaction, a later one is committed. True when the later one is held back. */
  const isHeldBack = async (slow: Session, quick: Session, reader: Session): Promise<boolean> => {
    await slow.begin();
    const older = await write(slow);
    const newer = await write(quick);
    await quick.rows('SELECT pg_sleep(0.003)');
    const early = (await read(reader)).map(({ id }) => id);
    await slow.commit();
    const shown = await readUntil(reader, newer);
    expect(shown.indexOf(older)).toBeGreaterThanOrEqual(0);
    expect(shown.indexOf(older)).toBeLessThan(shown.indexOf(newer));
    return !early.includes(newer);
  };

  it('shows nothing behind which an older entry may still appear, and both once that is committed (RULINGS A34)', async () => {
    expect(await isHeldBack(await sessions.open(), await sessions.open(), await sessions.open())).toBe(true);
  });

  it('would skip an entry if it did not look at open transactions', async () => {
    const [slow, quick, reader] = [await sessions.open(), await sessions.open(), await sessions.open()];
    const [row] = await slow.rows(
      "SELECT pg_get_functiondef('stepwell.change_horizon()'::regprocedure) AS sound",
    );
    const sound = String(row?.['sound']);
    await slow.rows(sound.replace('least(v_now, min(a.xact_start))', 'least(v_now, max(clock_timestamp()))'));
    expect(await isHeldBack(slow, quick, reader)).toBe(false);
    await slow.rows(sound);
  });

  it('is not held up by transactions of other databases, nor by its own', async () => {
    const [writer, reader] = [await sessions.open(), await sessions.open()];
    const id = await write(writer);
    await reader.begin();
    await writer.rows('SELECT pg_sleep(0.003)');
    expect((await read(reader)).map((row) => row.id)).toContain(id);
    await reader.commit();
  });

  it('gives readers that follow it every entry exactly once, in order, while many write', async () => {
    const writers = await Promise.all(Array.from({ length: WRITERS }, () => sessions.open()));
    const readers = await Promise.all(Array.from({ length: READERS }, () => sessions.open()));
    const [start] = await Promise.all([read(readers[0] ?? (await sessions.open()))]);
    const from = start.at(-1) ?? null;
    let writing = true;
    const written = Promise.all(
      writers.map(async (session) => {
        const ids: string[] = [];
        for (let turn = 0; turn < TURNS; turn += 1) ids.push(await write(session));
        return ids;
      }),
    ).then((ids) => ids.flat());
    const follow = async (session: Session): Promise<readonly string[]> => {
      const seen: string[] = [];
      let after: ChangeCursor | null = from;
      let rounds = 0;
      // One more look after the last write has been committed and its millisecond is over.
      while (writing || rounds < 1) {
        if (!writing) {
          rounds += 1;
          await session.rows('SELECT pg_sleep(0.005)');
        }
        const page: Awaited<ReturnType<typeof read>> = await read(session, after);
        seen.push(...page.map(({ id }) => id));
        after = page.at(-1) ?? after;
      }
      return seen;
    };
    const following = Promise.all(readers.map(follow));
    const ids = await written;
    writing = false;
    for (const seen of await following) {
      expect(new Set(seen).size).toBe(seen.length);
      expect(ids.filter((id) => !seen.includes(id))).toEqual([]);
    }
  });
});
