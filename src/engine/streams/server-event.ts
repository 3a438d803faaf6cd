/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  /** Where a reader goes on that comes back; absent: the event is no place to go on from. */
  readonly id?: string;
  /** Sent as JSON. */
  readonly data: unknown;
}
