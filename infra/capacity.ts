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
  const byTcp = turnFunctionsByTcp({ args, stage });
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

/** The same where each of them holds a connection. */
export function turnFunctionsByTcp({ args, stage }: Pick<Parts, 'args' | 'stage'>): number {
  const isSaid = args.stage?.turnFunctionsMax !== undefined;
  return isSaid ? stage.turnFunctionsMax : Math.min(stage.turnFunctionsMax, BY_TCP_MAX);
}

/** As the functions decide it. */
function isNeon(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname.endsWith('.neon.tech');
}
