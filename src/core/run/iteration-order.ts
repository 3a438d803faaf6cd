/** Orders passes as they count: `each:2` before `each:10`. Paths of different blocks are ordered by their text. */
export function compareIterations(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)];
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [one, other] = [a[at] ?? '', b[at] ?? ''];
    if (one === other) continue;
    const [n, m] = [Number(one), Number(other)];
    if (!Number.isNaN(n) && !Number.isNaN(m) && n !== m) return n - m;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}

function partsOf(iteration: string): readonly string[] {
  return iteration.split(/(\d+)/);
}
