import type * as z from 'zod';
import { DOOR_LIMITS, type DoorLimits } from '../core/json-door.ts';
import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { refuse, type Refusal } from '../engine/refusal.ts';
import type { Caller } from '../engine/use-case.ts';
import type { ApiContext } from './api-deps.ts';
import { carryOut } from './idempotent-call.ts';
import type { Answer, KeptReply, Reply } from './reply.ts';
import { bodyProblem, parameterProblem } from './schema-problem.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call. `public`: anybody, without key and tenant. `key`: needs a key but no tenant. `tenant`: needs a key, and a
 * tenant where one is required. `admin`: as `key`, but no tenant key.
 */
export type Access = 'public' | 'key' | 'tenant' | 'admin';

/** Under which paths a route is found: `both` is /api/v1/... and its bare alias, `root` the bare path alone. */
export type Mount = 'both' | 'root';

/**
 * One route: everything that the server, the contract tests and the OpenAPI document need to know about it. `path` writes
 * parameters as `{name}`.
 */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly mount: Mount;
  readonly access: Access;
  readonly tag: string;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: RouteBody;
  /** The answer shows a secret: a repeat by Idempotency-Key must not find it readable at rest. */
  readonly secretAnswer: boolean;
  /** Schema of the JSON body by status; null: none. Error answers are the same everywhere and not listed. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  /** Media type, or range of types, of an answer that has no JSON body; null: such an answer has no body at all. */
  readonly media: string | null;
  /** The path of a route that shows the same in parts; null: this one does, or nothing does. */
  readonly inParts: string | null;
  readonly run: (deps: ApiContext, call: RawCall) => Promise<Result<Reply | KeptReply, Refusal>>;
}

export type RouteBody =
  | { readonly kind: 'none' }
  /** `optional`: an empty body is read as if it were `{}`, or as absent where the schema allows that. */
  | { readonly kind: 'json'; readonly schema: z.ZodType; readonly optional: boolean }
  /** The route looks at the bytes itself. */
  | { readonly kind: 'raw' };

/** A request after authentication, before its parts are checked. */
export interface RawCall {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  /** Parameters of the query; of a repeated one the first counts. */
  readonly query: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
  /** The address of the peer as the host knows it; empty when it does not. */
  readonly peer: string;
  readonly requestId: string;
  /** undefined: the body is empty. */
  readonly readJson: (limits: DoorLimits) => Promise<Result<Json | undefined, Refusal>>;
  readonly readBytes: (maxBytes: number) => Promise<Result<Uint8Array, Refusal>>;
}

export const okay = (body: unknown): Answer => ok({ status: 200, body });
export const created = (body: unknown): Answer => ok({ status: 201, body });
export const emptyOkay: Answer = ok({ status: 200 });
export const noContent: Answer = ok({ status: 204 });

/** A request whose parts have passed their schemas. */
export interface Call<P, Q, B> extends RawCall {
  readonly path: P;
  readonly filter: Q;
  readonly body: B;
}

interface PartsSpec<P extends z.ZodType, Q extends z.ZodType> {
  readonly method: Method;
  readonly path: string;
  readonly mount?: Mount;
  readonly access?: Access;
  readonly tag: string;
  readonly summary: string;
  readonly secretAnswer?: boolean;
  readonly params: P;
  readonly query: Q;
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  readonly media?: string;
  readonly inParts?: string;
}

interface RouteSpec<P extends z.ZodType, Q extends z.ZodType> extends PartsSpec<P, Q> {
  /** The handler reads the bytes of the body itself. */
  readonly rawBody?: boolean;
  readonly handle: (
    deps: ApiContext,
    call: Call<z.output<P>, z.output<Q>, undefined>,
  ) => Promise<Answer> | Answer;
}

interface BodyRouteSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>
  extends PartsSpec<P, Q> {
  readonly body: B;
  /** An empty body reaches the schema as undefined; otherwise it is 400. */
  readonly bodyOptional?: boolean;
  /** Deepest nesting of the body, where it is another one than that of all bodies. */
  readonly bodyDepth?: number;
  readonly handle: (
    deps: ApiContext,
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<Answer> | Answer;
}

/** A route without JSON body. Its handler gets parts that have passed their schemas. */
export function defineRoute<P extends z.ZodType, Q extends z.ZodType>(spec: RouteSpec<P, Q>): Route {
  const { handle, rawBody = false, mount = 'both', access = 'tenant', secretAnswer = false, ...rest } = spec;
  const { media = null, inParts = null } = spec;
  const named = { method: spec.method, path: spec.path, access, secretAnswer };
  return {
    ...rest,
    mount,
    access,
    secretAnswer,
    media,
    inParts,
    body: { kind: rawBody ? 'raw' : 'none' },
    run: async (deps, call) => {
      const parts = checkParts(spec, call);
      if (!parts.ok) return parts;
      return carryOut(deps, named, call, undefined, (own) =>
        handle(own, { ...call, ...parts.value, body: undefined }),
      );
    },
  };
}

/**
 * A route with a JSON body. Parts are checked in the order of http-api.md 1.3: path and query (400), then the body (415,
 * 413, 400, 422).
 */
export function defineBodyRoute<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  spec: BodyRouteSpec<P, Q, B>,
): Route {
  const {
    handle,
    body: schema,
    bodyOptional: optional = false,
    bodyDepth,
    mount = 'both',
    access = 'tenant',
    secretAnswer = false,
    ...rest
  } = spec;
  const named = { method: spec.method, path: spec.path, access, secretAnswer };
  const limits = { ...DOOR_LIMITS, maxDepth: bodyDepth ?? DOOR_LIMITS.maxDepth };
  return {
    ...rest,
    mount,
    access,
    secretAnswer,
    media: null,
    inParts: null,
    body: { kind: 'json', schema, optional },
    run: async (deps, call) => {
      const parts = checkParts(spec, call);
      if (!parts.ok) return parts;
      const json = await call.readJson(limits);
      if (!json.ok) return json;
      if (json.value === undefined && !optional) return refuse('invalid_argument', 'the request has no body');
      const body = schema.safeParse(json.value);
      if (!body.success) return bodyProblem(body.error, json.value);
      return carryOut(deps, named, call, json.value, (own) =>
        handle(own, { ...call, ...parts.value, body: body.data }),
      );
    },
  };
}

function checkParts<P extends z.ZodType, Q extends z.ZodType>(
  spec: PartsSpec<P, Q>,
  call: RawCall,
): Result<{ readonly path: z.output<P>; readonly filter: z.output<Q> }, Refusal> {
  const texts = [...Object.values(call.params), ...Object.entries(call.query).flat()];
  // It cannot be stored, so nothing has it; the database would answer with an error of its own.
  if (texts.some((text) => text.includes('\u0000'))) {
    return refuse('invalid_argument', 'a parameter contains the character U+0000');
  }
  const path = spec.params.safeParse(call.params);
  if (!path.success) return parameterProblem(path.error, call.params);
  const filter = spec.query.safeParse(call.query);
  if (!filter.success) return parameterProblem(filter.error, call.query);
  return ok({ path: path.data, filter: filter.data });
}
