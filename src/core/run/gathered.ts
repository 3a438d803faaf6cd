/** What gathers until somebody takes all of it. */
export class Gathered<T> {
  private items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  push(item: T): void {
    this.items.push(item);
  }

  takeAll(): readonly T[] {
    const taken = this.items;
    this.items = [];
    return taken;
  }
}
