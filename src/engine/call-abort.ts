/** The abort of one call. The platform's controller is made when a handler first asks for its signal; most never do. */
export class CallAbort {
  private controller: AbortController | null = null;
  private aborted = false;

  get signal(): AbortSignal {
    if (this.controller === null) {
      this.controller = new AbortController();
      if (this.aborted) this.controller.abort();
    }
    return this.controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.controller?.abort();
  }
}
