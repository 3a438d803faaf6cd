import type { StageSettings } from './stage.ts';

export const DEAD_LETTER_FUNCTIONS_MAX = 2;
/** The function that a deployment calls. */
const DEPLOY_FUNCTIONS = 1;

/**
 * Refuses a stage that could open more connections than its database takes: each function that runs holds one, and so does one
 * that AWS keeps for the next event. Behind a pooler connections are those to the pooler.
 *
 * @throws Error that says what to change.
 */
export function checkConnections(maxConnections: number, stage: StageSettings): void {
  const { reserved, turnFunctionsMax } = stage;
  if (reserved === null) {
    throw new Error(
      'database.maxConnections needs stage.reserved: otherwise nothing bounds how many requests ask the database at once',
    );
  }
  const { api, stream, sweep } = reserved;
  const total = turnFunctionsMax + api + stream + sweep + DEAD_LETTER_FUNCTIONS_MAX + DEPLOY_FUNCTIONS;
  if (total <= maxConnections) return;
  throw new Error(
    `this stage may open ${total} connections, its database takes ${maxConnections}: lower stage.turnFunctionsMax or ` +
      'stage.reserved, or put a pooler before the database (docs/databases.md)',
  );
}
