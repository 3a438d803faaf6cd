const MAX_DISTANCE = 2;
/** Longer names are not compared: nobody misspells them, and the comparison costs the product of the lengths. */
const MAX_NAME_LENGTH = 64;

/** The known name nearest to `name` within edit distance 2 ([UNK-1]), or undefined. The first of equals wins. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  let nearest: string | undefined;
  let best = MAX_DISTANCE + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= best || candidate === name) continue;
    const distance = editDistance(name, candidate);
    if (distance < best) [nearest, best] = [candidate, distance];
  }
  return nearest;
}

/** A sentence to append to a message: empty when nothing is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

/** Levenshtein distance: insertions, deletions and replacements of one character count 1. */
export function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
