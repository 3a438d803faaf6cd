import { err, ok, type Result } from '../../core/result.ts';
import type { SqlDriver } from './driver.ts';
import { SqlError } from './sql-error.ts';

/** `owner`: it is the login of this connection. `known`: it had everything. `created`: it was not there before. */
export type Admission = 'owner' | 'known' | 'admitted' | 'created';

const LOOK = `
SELECT current_user = $1::text, EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1::text),
  current_setting('server_version_num')::integer`;

/** Statements that are missing, null for those that are not. The server puts the names into quotes. */
const MISSING_GRANTS = `
SELECT
  CASE WHEN NOT pg_has_role($1::name, 'stepwell_app', 'USAGE') THEN format('GRANT stepwell_app TO %I', $1::text) END,
  CASE WHEN NOT pg_has_role($1::name, 'stepwell_engine', $2::text) THEN format('GRANT stepwell_engine TO %I', $1::text) || $3::text END`;
const MISSING_LIMITS = `
SELECT format('ALTER ROLE %I SET %s = %L', $1::text, s.name, s.value)
FROM (VALUES ('statement_timeout', '10s'), ('lock_timeout', '2s')) s (name, value)
WHERE NOT EXISTS (
  SELECT FROM pg_catalog.pg_db_role_setting d
  JOIN pg_catalog.pg_roles r ON r.oid = d.setrole AND r.rolname = $1
  WHERE EXISTS (SELECT FROM unnest(d.setconfig) c WHERE c LIKE s.name || '=%'))`;

const CREATION = "SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)";

/** PostgreSQL 16. */
const ROLES_APART = 160_000;

const DENIED = '42501';

/**
 * Lets a login that owns nothing do what functions do (RULINGS A39), by the owner of the schema: it may become either of the two
 * roles, and its statements end in time wherever no connection is kept that could say so. What it has already stays as it
 * is. The error says what somebody has to do first: there is no such login, or it is not the owner's to admit.
 *
 * @param password With it a login that is not there is made; that of one that is there stays. Default: it has to be there.
 */
export async function admitLogin(
  driver: SqlDriver,
  login: string,
  password = '',
): Promise<Result<Admission, string>> {
  const [look] = await driver.query(LOOK, [login]);
  const [isOwner, isThere, version] = look ?? [];
  if (isOwner === true) return ok('owner');
  const isNew = isThere !== true;
  if (isNew && password === '')
    return err(`the database has no login ${login}: create it with CREATE ROLE … LOGIN PASSWORD …`);
  const made = isNew ? await create(driver, login, password) : ok('known' as const);
  if (!made.ok) return made;
  // Where the server can tell the two apart, the login may become the engine but does not see with its eyes.
  const isApart = Number(version) >= ROLES_APART;
  const grants = await driver.query(MISSING_GRANTS, [
    login,
    isApart ? 'SET' : 'MEMBER',
    isApart ? ' WITH INHERIT FALSE, SET TRUE' : '',
  ]);
  const limits = await driver.query(MISSING_LIMITS, [login]);
  const missing = [...grants, ...limits].flat().filter((text) => typeof text === 'string');
  const admitted = missing.length === 0 ? ok('known' as const) : await admit(driver, missing);
  return isNew && admitted.ok ? made : admitted;
}

async function create(
  driver: SqlDriver,
  login: string,
  password: string,
): Promise<Result<Admission, string>> {
  const [[text] = []] = await driver.query(CREATION, [login, password]);
  const created = await admit(driver, [String(text)]);
  if (created.ok) return ok('created');
  // What it would have run holds the password.
  return err(`somebody with more rights has to run: CREATE ROLE "${login}" LOGIN PASSWORD …`);
}

async function admit(driver: SqlDriver, missing: readonly string[]): Promise<Result<Admission, string>> {
  const session = await driver.openSession();
  try {
    for (const text of missing) await session.run(text);
    return ok('admitted');
  } catch (error) {
    if (!(error instanceof SqlError) || error.code !== DENIED) throw error;
    return err(`somebody with more rights has to run: ${missing.join('; ')}`);
  } finally {
    await session.end();
  }
}
