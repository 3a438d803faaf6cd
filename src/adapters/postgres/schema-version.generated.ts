// Generated from migrations/*.sql by scripts/build-migrations.mjs; changed there and nowhere else.

/** The schema that this build needs. */
export const SCHEMA_VERSION = 26;
