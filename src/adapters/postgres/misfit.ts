import { StoreUnavailable } from '../../ports/store/store.ts';
import { SqlError } from './sql-error.ts';
import { SCHEMA_VERSION } from './schema-version.generated.ts';

/** What the database is, or lets us do, does not fit this build. Nothing was carried out; the message says what to do next. */
class Misfit extends StoreUnavailable {
  /** SQLSTATE. */
  readonly code: string;
  constructor(message: string, code: string) {
    super(message, { unknown: false });
    this.name = 'StoreUnavailable';
    this.code = code;
  }
}

export const PING = 'SELECT stepwell.ping_v1()';

/** No such schema, table, function, column or role. */
const UNKNOWN_NAME: ReadonlySet<string> = new Set(['3F000', '42P01', '42883', '42703', '42704', '22023']);

/**
 * Why a statement failed that cannot fail on a database which fits: the schema is older than this build, or the login may
 * not use it. Any other error is answered as it is; so is that of an unknown name in a schema that is new enough, which is
 * a defect of ours.
 *
 * @param readVersion Answers the version of the schema, or rejects as the statement did.
 */
export async function misfitOf(error: unknown, readVersion: () => Promise<number>): Promise<unknown> {
  if (!(error instanceof SqlError)) return error;
  const { code, message } = error;
  // Row-level security has the same code, and a meaning of its own.
  if (code === '42501') return message.startsWith('permission denied') ? withoutRights(error) : error;
  if (!UNKNOWN_NAME.has(code)) return error;
  const version = await versionOr(readVersion, error);
  if (typeof version !== 'number') return version;
  if (version >= SCHEMA_VERSION) return error;
  const has = version === 0 ? 'no schema of Stepwell' : `the schema of version ${version}`;
  return new Misfit(
    `the database has ${has}, this build needs ${SCHEMA_VERSION}; run \`npx stepwell migrate\` (${code})`,
    code,
  );
}

async function versionOr(readVersion: () => Promise<number>, error: SqlError): Promise<unknown> {
  try {
    return await readVersion();
  } catch (problem) {
    if (!(problem instanceof SqlError)) return error;
    if (problem.code === '42501') return withoutRights(problem);
    return UNKNOWN_NAME.has(problem.code) ? 0 : error;
  }
}

function withoutRights({ code, message }: SqlError): Misfit {
  const next =
    'grant the login of STEPWELL_DATABASE_URL the roles stepwell_app and stepwell_engine (docs/databases.md)';
  return new Misfit(`${message} (${code}); ${next}`, code);
}
