import type {
  DurableObjectNamespace,
  DurableObjectState,
  ExecutionContext,
  ExportedHandler,
  Queue,
} from '@cloudflare/workers-types';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createCloudflareWorker, type WorkerEnv } from '../../../functions/cloudflare/index.ts';
import { draftsOf } from '../../../functions/project.ts';
import { handlersOf } from '../../../functions/project-handlers.ts';
import { readWorkerSettings } from '../../../functions/settings.ts';
import { defineHandler } from '../../../src/sdk/handler.ts';
import { sequence } from '../../../src/sdk/sequence.ts';

const book = defineHandler('book', {}, () => null);
const trip = sequence({ name: 'trip', blocks: [{ type: 'step', id: 'a', handler: 'book' }] });

describe('a project for Cloudflare', () => {
  it('brings handlers and sequences as arrays or as modules', () => {
    const module = { book, LIMIT: 3, trip };
    expect(handlersOf({ handlers: [book] })).toEqual([book]);
    expect(handlersOf({ handlers: module })).toEqual([book]);
    expect(draftsOf({ sequences: [trip] })).toEqual([trip]);
    expect(draftsOf({ sequences: module })).toEqual([trip]);
  });

  it('may bring nothing, and is told when what it brings are no handlers', () => {
    expect([handlersOf({}), draftsOf({}), handlersOf({ handlers: [] })]).toEqual([[], [], []]);
    expect(draftsOf({ sequences: [] })).toEqual([]);
    expect(() => handlersOf({ handlers: { limit: 3 } })).toThrow('exports no handler');
    expect(() => draftsOf({ sequences: { limit: 3 } })).toThrow('no sequence is exported');
    const incomplete = { blocks: trip.blocks };
    expect(() => draftsOf({ sequences: { trip, incomplete } })).toThrow('the export incomplete of the given');
  });

  it('is looked at before the first event, so that an upload of what is none fails', () => {
    const incomplete = { blocks: trip.blocks };
    expect(() => createCloudflareWorker({ sequences: { trip, incomplete } })).toThrow(
      'the export incomplete',
    );
    const broken = { name: 'broken', blocks: [{ type: 'step', id: 'a' }] };
    expect(() => createCloudflareWorker({ sequences: { broken } })).toThrow(/broken: blocks\[0\].*handler/);
    expect(() => createCloudflareWorker({ handlers: { limit: 3 } })).toThrow('exports no handler');
  });

  it('needs to know when it was uploaded where it brings sequences', () => {
    const env = {
      STEPWELL_DATABASE_URL: 'postgres://app:secret@ep-still-lake-1.eu-central-1.aws.neon.tech/stepwell',
      STEPWELL_INSECURE: '1',
      STEPWELL_TURNS: { sendBatch: () => Promise.resolve() },
    };
    const request = new Request('https://stepwell.example.com/health/live');
    const fetched = () =>
      createCloudflareWorker({ sequences: [trip] }).worker.fetch(request, env, {
        waitUntil: () => undefined,
      });
    expect(fetched).toThrow('"version_metadata": { "binding": "STEPWELL_VERSION" }');
  });

  it('may bring its sequences by file, which is named when something is wrong with it', () => {
    const sequenceFiles = { 'sequences/trip.ts': { trip }, 'sequences/hike.json': { ...trip, name: 'hike' } };
    expect(draftsOf({ sequenceFiles }).map(({ name }) => name)).toEqual(['trip', 'hike']);
    expect(() => draftsOf({ sequenceFiles: { 'sequences/hike.json': { name: 'hike' } } })).toThrow(
      'sequences/hike.json is no sequence: it has no blocks (a list)',
    );
  });

  it('fits what the platform expects of a Worker and of an object, by the types of its makers', () => {
    const { worker, StepwellWaker } = createCloudflareWorker();
    const parameters = expectTypeOf<Parameters<NonNullable<ExportedHandler['queue']>>[0]>();
    parameters.toExtend<Parameters<typeof worker.queue>[0]>();
    expectTypeOf<ExecutionContext>().toExtend<Parameters<typeof worker.fetch>[2]>();
    expectTypeOf<Queue>().toExtend<WorkerEnv['STEPWELL_TURNS']>();
    expectTypeOf<DurableObjectNamespace>().toExtend<NonNullable<WorkerEnv['STEPWELL_WAKER']>>();
    expectTypeOf<DurableObjectState>().toExtend<ConstructorParameters<typeof StepwellWaker>[0]>();
    expect(Object.keys(worker)).toEqual(['fetch', 'scheduled', 'queue']);
  });
});

describe('the settings of a Worker', () => {
  it('come from its variables, whatever else is bound', () => {
    const env = { STEPWELL_DATABASE_URL: 'postgres://x', STEPWELL_TURNS: { sendBatch: () => null } };
    expect(readWorkerSettings(env)).toMatchObject({ STEPWELL_INVOCATION_SECS: 60 });
    const wrong = { ...env, STEPWELL_INVOCATION_SECS: '3600' };
    expect(() => readWorkerSettings(wrong)).toThrow('STEPWELL_INVOCATION_SECS');
  });
});
