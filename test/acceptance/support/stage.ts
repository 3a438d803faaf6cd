import { afterEach, beforeEach, expect } from 'vitest';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { Body, CallOptions, Reply } from '../../api/support/api-fixture.ts';
import { type BackendName, useBackend } from '../../api/support/backends.ts';
import { document, startBody } from '../../api/support/documents.ts';
import { nextId } from '../../support/turn-builder.ts';
import type { Probe } from './probe.ts';
import {
  createWorld,
  type Functions,
  type Host,
  type HostOptions,
  type Server,
  startFunctions,
  startServer,
  type World,
} from './world.ts';

/**
 * Where a scenario is played: an empty database on a clock that jumps, and clients of the process that came last. The
 * first call starts a server when no process was asked for.
 */
export interface Stage {
  readonly backend: BackendName;
  readonly world: World;
  readonly probe: Probe;
  readonly now: number;
  server(options?: HostOptions): Server;
  functions(options?: HostOptions): Functions;
  /** Stops all processes; so much later there is a new one. */
  jump(ms: number, options?: HostOptions): Promise<void>;
  /** Drives the time until all this is answered. */
  drive<T>(work: Promise<T>, withinMs?: number): Promise<T>;
  pass(ms: number): Promise<void>;
  calm(): Promise<void>;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  get(path: string): Promise<Body>;
  post(path: string, body?: unknown): Promise<Reply>;
  /** Publishes blocks and answers the id of the version. */
  publish(blocks: readonly Json[], members?: JsonObject): Promise<string>;
  start(sequenceId: string, overrides?: JsonObject): Promise<string>;
  /** Publishes and starts. */
  run(blocks: readonly Json[], overrides?: JsonObject, members?: JsonObject): Promise<string>;
  /** Lets time pass until the instance has one of these states; answers the instance. */
  until(id: string, ...states: readonly string[]): Promise<Body>;
  signal(id: string, type: Json, payload?: Json): Promise<Reply>;
  answer(id: string, block: string, value?: Json): Promise<Reply>;
  stateOf(id: string): Promise<string>;
  /** Rows of the outputs list. */
  outputs(id: string): Promise<readonly Body[]>;
  /** Blocks of the rows, in their order. */
  ran(id: string): Promise<readonly string[]>;
  /** Nodes by block. */
  nodes(id: string): Promise<Readonly<Record<string, Body>>>;
  /** State of each node, in document order. */
  tree(id: string): Promise<Readonly<Record<string, string>>>;
  poll(handler: string, worker?: string): Promise<Body>;
  complete(task: Body, output?: Json): Promise<Reply>;
  fail(task: Body, report?: JsonObject): Promise<Reply>;
}

const TERMINAL = ['completed', 'failed', 'cancelled'];

/** Registers a stage that is set up anew for each test of the file. */
export function useStage(backendName: BackendName): Stage {
  const backend = useBackend(backendName);
  const set: { world?: World; hosts: Host[] } = { hosts: [] };
  beforeEach(async () => {
    set.world = createWorld(await backend.fresh());
    set.hosts = [];
  });
  const world = (): World => {
    if (set.world === undefined) throw new Error('the stage is set up when a test begins');
    return set.world;
  };
  const drive = async <T>(work: Promise<T>, withinMs = 3_600_000): Promise<T> => {
    let over = false;
    const settled = (): void => void (over = true);
    work.then(settled, settled);
    if (!(await world().time.until(() => over, withinMs))) throw new Error('there is no answer');
    return work;
  };
  const stop = async (): Promise<void> => {
    await drive(Promise.all(set.hosts.splice(0).map((host) => host.stop())));
  };
  afterEach(stop);
  const added = <H extends Host>(host: H): H => {
    set.hosts.push(host);
    return host;
  };
  const base = {
    backend: backendName,
    server: (options?: HostOptions) => added(startServer(world(), options)),
    functions: (options?: HostOptions) => added(startFunctions(world(), options)),
    drive,
    pass: (ms: number) => world().time.pass(ms),
    calm: () => world().time.calm(),
    jump: async (ms: number, options?: HostOptions) => {
      await stop();
      await world().time.pass(ms);
      added(startServer(world(), options));
    },
    call: (method: string, path: string, options?: CallOptions) => {
      const host = set.hosts.at(-1) ?? added(startServer(world()));
      return drive(host.call(method, path, options));
    },
  };
  return {
    ...clientsOf(base, world),
    get world() {
      return world();
    },
    get probe() {
      return world().probe;
    },
    get now() {
      return world().time.now;
    },
  };
}

type Base = Pick<Stage, 'backend' | 'server' | 'functions' | 'drive' | 'pass' | 'calm' | 'jump' | 'call'>;

function clientsOf(base: Base, world: () => World): Omit<Stage, 'world' | 'probe' | 'now'> {
  const { call } = base;
  const get = async (path: string): Promise<Body> => {
    const reply = await call('GET', path);
    expectStatus(reply, 200);
    return reply.body;
  };
  const post = (path: string, body?: unknown) => call('POST', path, body === undefined ? {} : { body });
  const publish = async (blocks: readonly Json[], members: JsonObject = {}): Promise<string> => {
    const body = document({ name: `s-${nextId()}`, blocks, ...members });
    const reply = await post('/sequences', body);
    expectStatus(reply, 201);
    return body.id;
  };
  const start = async (sequenceId: string, overrides: JsonObject = {}): Promise<string> => {
    const reply = await post('/instances', startBody(sequenceId, overrides));
    expectStatus(reply, 201);
    return reply.body.id;
  };
  const signal = (id: string, type: Json, payload: Json = null) =>
    post(`/instances/${id}/signals`, { signal_type: type, payload });
  return {
    ...base,
    ...readers(get),
    ...workers(post),
    ...{ get, post, publish, start, signal },
    run: async (blocks, overrides = {}, members = {}) => start(await publish(blocks, members), overrides),
    answer: (id, block, value = 'yes') => signal(id, { custom: `human_input:${block}` }, { value }),
    until: async (id, ...states) => {
      const wanted = states.length === 0 ? TERMINAL : states;
      const there = async (): Promise<boolean> =>
        wanted.includes((await world().store.getInstance(null, id))?.state ?? '');
      if (await world().time.until(there, 7_200_000)) return get(`/instances/${id}`);
      throw new Error(`not ${wanted.join()}: ${JSON.stringify(await get(`/instances/${id}/explain`))}`);
    },
  };
}

/** An answer of another kind is shown as a whole. */
export function expectStatus(reply: Reply, status: number): void {
  expect(reply.status === status ? status : reply.text).toBe(status);
}

function readers(get: Stage['get']) {
  const treeOf = (id: string): Promise<readonly Body[]> => get(`/instances/${id}/tree`);
  const outputs = (id: string): Promise<readonly Body[]> => get(`/instances/${id}/outputs`);
  return {
    outputs,
    stateOf: async (id: string): Promise<string> => (await get(`/instances/${id}`)).state,
    ran: async (id: string) => (await outputs(id)).map((row) => String(row.block_id)),
    nodes: async (id: string): Promise<Readonly<Record<string, Body>>> =>
      Object.fromEntries((await treeOf(id)).map((node): [string, Body] => [node.block_id, node])),
    tree: async (id: string): Promise<Readonly<Record<string, string>>> =>
      Object.fromEntries((await treeOf(id)).map((node): [string, string] => [node.block_id, node.state])),
  };
}

function workers(post: Stage['post']) {
  const claim = (task: Body) => ({ worker_id: task.worker_id, claim_epoch: task.claim_epoch });
  return {
    poll: async (handler: string, worker = 'w-1'): Promise<Body> =>
      (await post('/workers/tasks/poll', { handler_name: handler, worker_id: worker })).body[0],
    complete: (task: Body, output: Json = {}) =>
      post(`/workers/tasks/${task.id}/complete`, { ...claim(task), output }),
    fail: (task: Body, report: JsonObject = {}) =>
      post(`/workers/tasks/${task.id}/fail`, { ...claim(task), message: 'down', ...report }),
  };
}
