import { describe, expect, it } from 'vitest';
import { eventStream } from '../../src/api/event-stream.ts';
import { type OpenStream, streamAnswer } from '../../src/api/streams.ts';
import { createActivity, unhurried } from '../../src/engine/streams/activity.ts';
import { VirtualTime } from '../engine/support/virtual-time.ts';

const TOPIC = { tenantId: 'saltmarsh' };

function host(streamMaxMs: number | null) {
  const time = new VirtualTime(0);
  const clock = { monotonicMs: () => time.now, after: () => () => undefined };
  const streams = new Set<OpenStream>();
  const deps = { activity: createActivity(clock), clock, streams, settings: { maxStreams: 2, streamMaxMs } };
  const open = () => {
    const answer = streamAnswer(deps, TOPIC, 'unavailable', async function* () {
      // Nothing is told.
    });
    if (!answer.ok) return answer.error.kind;
    return 'events' in answer.value ? answer.value.events : undefined;
  };
  return { time, clock, open };
}

describe('the streams of a process', () => {
  it('are bounded, and one that has ended makes room', () => {
    const { open } = host(null);
    const first = open();
    open();
    expect(open()).toBe('unavailable');
    if (typeof first === 'object') first.close();
    expect(open()).toBeTypeOf('object');
    expect(open()).toBe('unavailable');
  });

  it('count for no longer than they may last, as a host may stop one without a word', async () => {
    const { time, open } = host(60_000);
    open();
    await time.pass(30_000);
    open();
    await time.pass(29_999);
    expect(open()).toBe('unavailable');
    await time.pass(1);
    expect(open()).toBeTypeOf('object');
    expect(open()).toBe('unavailable');
  });

  it('count for ever where they have no end of their own', async () => {
    const { time, open } = host(null);
    open();
    open();
    await time.pass(86_400_000);
    expect(open()).toBe('unavailable');
  });
});

describe('a stream whose reader goes before its first byte', () => {
  const answerTo = (signal: AbortSignal) => {
    const { clock, open } = host(null);
    const source = open();
    open();
    expect(open()).toBe('unavailable');
    if (typeof source !== 'object') throw new Error('the stream was refused');
    const request = new Request('http://localhost/', { signal });
    const response = eventStream(source, { clock, request, maxMs: null, onError: () => undefined });
    return { open, response };
  };

  it('makes room, also when nobody has begun to read the answer', () => {
    const caller = new AbortController();
    const { open } = answerTo(caller.signal);
    expect(open()).toBe('unavailable');
    caller.abort();
    expect(open()).toBeTypeOf('object');
  });

  it('never takes a place when it has gone already', () => {
    const { open, response } = answerTo(AbortSignal.abort());
    expect(response.body).toBeNull();
    expect(open()).toBeTypeOf('object');
  });
});

describe('a follower in no hurry', () => {
  it('looks at most so often, and at once at what is heard', async () => {
    const waits: number[] = [];
    const clock = {
      after: (delayMs: number) => {
        waits.push(delayMs);
        return () => undefined;
      },
    };
    const activity = unhurried(createActivity(clock), 1_000);
    const follower = activity.follow(TOPIC);
    const looks = [follower.next(100), follower.next(5_000)];
    expect(waits).toEqual([1_000, 5_000]);
    activity.happened(TOPIC);
    follower.close();
    expect(await looks[1]).toBe(false);
  });
});
