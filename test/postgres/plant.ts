import { afterAll, describe, expect, it } from 'vitest';
import { type TestDatabase, createTestDatabase } from '../support/postgres-database.ts';
import { type Session, openSession } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

/**
 * Each rule with the mistake it forbids: the mistake is planted into one function, and the same scene that holds on the
 * sound database must break on the planted one. A scene that holds on both proves nothing.
 */
export interface Bug {
  readonly rule: string;
  readonly in: string;
  readonly replace: readonly (readonly [text: string, by: string])[];
  /** True when the rule held. */
  readonly scene: (one: Session, two: Session) => Promise<boolean>;
}

/** Registers a test per rule. */
export function describeBugs(name: string, bugs: readonly Bug[]): void {
  describe(`planted bugs in ${name}`, () => {
    const databases: TestDatabase[] = [];
    afterAll(async () => {
      for (const database of databases) await database.drop();
    });

    async function play(bug: Bug, planted: boolean): Promise<boolean> {
      const database = await createTestDatabase(MIGRATED_WITH_TEST_CLOCK);
      databases.push(database);
      const [one, two] = [await openSession(database.url), await openSession(database.url)];
      try {
        if (planted) await plant(one, bug);
        return await bug.scene(one, two);
      } finally {
        await one.end();
        await two.end();
      }
    }

    async function plant(session: Session, bug: Bug): Promise<void> {
      const [found] = await session.rows(
        'SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname = $1',
        [bug.in],
      );
      let text = String(found?.['text']);
      for (const [from, to] of bug.replace) {
        expect(text, `the text of ${bug.in} has changed`).toContain(from);
        text = text.replace(from, to);
      }
      await session.rows(text);
    }

    it.each(bugs.map((bug) => [bug.rule, bug] as const))('%s', async (_rule, bug) => {
      expect(await play(bug, false)).toBe(true);
      expect(await play(bug, true)).toBe(false);
    });
  });
}
