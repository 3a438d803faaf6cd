/**
 * Which leaves may have been called by the turn whose lease was taken over, although nothing is stored of it: for the
 * first leaves of a turn the claim is the intent ([REC-2], RULINGS A22). They stand where the run has not gone on since.
 */
export class LostCalls {
  /** A lease was taken over, and no handler has been called since. */
  takenOver = false;
  private readonly wentOnAt = new Set<string>();
  private rowsSeen = 0;

  /** The leaf at the cursor of this frame may have run before; the next call of it has to tell the handler. */
  mayHaveRun(frameKey: string): boolean {
    return this.takenOver && !this.wentOnAt.has(frameKey);
  }

  /**
   * A frame is changed. The run has gone on there when rows were written with it: without any the frame only comes to
   * stand where the last turn's stood when it made its calls.
   */
  changed(frameKey: string, pendingRows: number): void {
    if (pendingRows > this.rowsSeen) this.wentOnAt.add(frameKey);
    this.rowsSeen = pendingRows;
  }

  /** A list that is opened where the run has gone on was not open before. */
  opened(parentKey: string, frameKey: string): void {
    if (this.wentOnAt.has(parentKey)) this.wentOnAt.add(frameKey);
  }

  /** A list that is stored before anything in it is called was not open before either. */
  fresh(frameKey: string): void {
    this.wentOnAt.add(frameKey);
  }

  /** The rows are with the commit. */
  rowsTaken(): void {
    this.rowsSeen = 0;
  }
}
