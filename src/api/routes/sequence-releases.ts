import { promoteSequence, unpublishSequence } from '../../engine/sequence-releases.ts';
import { created, defineBodyRoute, defineRoute, noContent } from '../route.ts';
import { NamePath, PromotedBody, UnpublishBody } from '../schemas/sequence.ts';
import { NoParameters } from '../schemas/wire-values.ts';

const tag = 'sequences';

const promote = defineRoute({
  method: 'POST',
  path: '/sequences/{name}/promote',
  tag,
  summary: 'Move the newest version of a name in the namespace default to production',
  params: NamePath,
  query: NoParameters,
  responses: { 201: PromotedBody },
  handle: async (deps, { caller, path }) => {
    const promoted = await promoteSequence(deps, caller, path.name);
    return promoted.ok ? created(promoted.value) : promoted;
  },
});

const unpublish = defineBodyRoute({
  method: 'POST',
  path: '/sequences/{name}/unpublish',
  tag,
  summary: 'Take the newest version of a name in the namespace default out of use, or delete it',
  params: NamePath,
  query: NoParameters,
  body: UnpublishBody,
  bodyOptional: true,
  responses: { 204: null },
  handle: async (deps, { caller, path, body }) => {
    const done = await unpublishSequence(deps, caller, path.name, body);
    return done.ok ? noContent : done;
  },
});

export const sequenceReleaseRoutes = [promote, unpublish];
