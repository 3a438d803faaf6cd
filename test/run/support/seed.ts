/**
 * Where the random runs begin: always alike, so that a change is judged by the same cases as the one before it.
 * `STEPWELL_SEED=<seed>` begins elsewhere, and `STEPWELL_SEED=random` looks for what nobody has seen.
 */
export function randomSeed(): number {
  const given = process.env['STEPWELL_SEED'] ?? '20261130';
  return given === 'random' ? Math.floor(Math.random() * 0x7fff_ffff) : Number(given);
}
