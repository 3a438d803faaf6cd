/** Which driver a function asks the database with: what is set, else what the database's address says. */
export function driverNameOf(connectionString: string, set: 'neon' | 'pg' | undefined): 'neon' | 'pg' {
  if (set !== undefined) return set;
  const isNeon = URL.canParse(connectionString) && new URL(connectionString).hostname.endsWith('.neon.tech');
  return isNeon ? 'neon' : 'pg';
}
