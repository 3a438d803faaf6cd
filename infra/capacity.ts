import type { Parts } from './parts.ts';

/**
 * Turn functions at once where each process holds a connection of its own: a server's usual 100 have to do for the API too, and for
 * the processes of the deployment before this one, which keep theirs for a minute (docs/deploy-aws.md).
 */
const BY_TCP_MAX = 20;

/** Turn functions at once: what the user says, else what suits the stage and the way to the database. */
export function turnFunctionsMax(
  { args, stage }: Parts,
  databaseUrl: $util.Input<string>,
): $util.Input<number> {
  if (args.stage?.turnFunctionsMax !== undefined) return stage.turnFunctionsMax;
  const byTcp = Math.min(stage.turnFunctionsMax, BY_TCP_MAX);
  switch (args.database?.driver) {
    case 'neon':
      return stage.turnFunctionsMax;
    case 'pg':
      return byTcp;
    case undefined:
      // Nothing secret is left of the address.
      return $util.unsecret(
        $util.output(databaseUrl).apply((url) => (isNeon(url) ? stage.turnFunctionsMax : byTcp)),
      );
  }
}

/** As the functions decide it. */
function isNeon(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname.endsWith('.neon.tech');
}
