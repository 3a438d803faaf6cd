/**
 * The longest that one call of a service of the host may take, all its tries included, ms: of a queue that takes hints, or of what
 * keeps wakes. Who calls goes on then as if the service had refused, so a service that is out of reach delays a request by this.
 */
export const HOST_CALL_MS = 4_000;
