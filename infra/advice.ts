import type { Databases } from './deployment.ts';
import { loginOf } from './login.ts';
import type { Parts } from './parts.ts';

/** What production lacks that a deployment can see; nothing of it keeps it from working. Other stages are told nothing. */
export function adviceOf(
  { args, stage }: Pick<Parts, 'args' | 'stage'>,
  { databaseUrl, ownerUrl }: Databases,
): $util.Output<string> {
  const isOwner = $util.all([databaseUrl, ownerUrl]).apply(([url, owner]) => loginOf(url) === loginOf(owner));
  // Whether they are the same is no secret.
  return $util.unsecret(isOwner).apply((is) => {
    if (!stage.isProtected) return NONE;
    const told = [
      ...(is ? ['the functions are the owner of the schema: give them a login of their own'] : []),
      ...(stage.reserved === null
        ? ['whoever floods the public URL takes the concurrency of the account']
        : []),
      ...(args.alarms === undefined ? ['nobody is told by the alarms: set alarms'] : []),
    ];
    return told.length === 0 ? NONE : `${told.join('; ')} (docs/deploy-aws.md, "Before production")`;
  });
}

const NONE = 'none';
