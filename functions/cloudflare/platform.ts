import type { ObjectNamespace, QueueBinding } from '../../src/adapters/cloudflare/bindings.ts';

/*
 * What a Worker of ours is given by the platform. Written down here, in the shape of the platform's own types, so that a
 * project needs no types of Cloudflare's to deploy it.
 */

/** Bindings, variables and secrets. The settings are among the variables (docs/settings.md). */
export interface WorkerEnv {
  /** Producer of the queue of turns. */
  readonly STEPWELL_TURNS: QueueBinding;
  /** Namespace of the waker. Without it a cron trigger each minute has to find what falls due. */
  readonly STEPWELL_WAKER?: ObjectNamespace;
  /** Metadata of the version; the time says which of two deployments is the later one. Needed where sequences are published. */
  readonly STEPWELL_VERSION?: { readonly timestamp: string };
  readonly [name: string]: unknown;
}

export interface WorkerContext {
  waitUntil(work: Promise<unknown>): void;
}

export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}

export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** 1: it comes for the first time. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { readonly delaySeconds?: number }): void;
}

/** The state of a Durable Object. Between two calls of its storage no other event comes in. */
export interface ObjectState {
  readonly storage: ObjectStorage;
}

/** Of an alarm that goes off. */
export interface AlarmInfo {
  /** The handler did not come to its end the last time. */
  readonly isRetry: boolean;
}

export interface ObjectStorage {
  /** null also while an alarm is being handled, unless a new one was set. */
  getAlarm(): Promise<number | null>;
  setAlarm(atMs: number): Promise<void>;
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
}
