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
function editDistance(left: string, right: string): number {
  let costs = Array.from(right, (_, column) => column + 1);
  let emptyCost = 0;
  for (const character of left) {
    let diagonal = emptyCost;
    emptyCost += 1;
    let beside = emptyCost;
    costs = costs.map((above, column) => {
      const cost = Math.min(diagonal + (right[column] === character ? 0 : 1), above + 1, beside + 1);
      [diagonal, beside] = [above, cost];
      return cost;
    });
  }
  return costs.at(-1) ?? emptyCost;
}
