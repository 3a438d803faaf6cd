/** All variables of a function, names and values, as AWS takes them. */
const BYTES_MAX = 4096;
/** Named by the error; the others are hardly to blame. */
const NAMED_MAX = 3;

/** @throws Error that names the largest variables and never a value. */
export function checkSize(variables: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(variables).map(([name, value]) => ({
    name,
    bytes: bytesOf(name) + bytesOf(value),
  }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= BYTES_MAX) return;
  const largest = sizes.toSorted((left, right) => right.bytes - left.bytes).slice(0, NAMED_MAX);
  const named = largest.map(({ name, bytes }) => `${name} (${bytes})`).join(', ');
  throw new Error(
    `the environment of a function has ${total} bytes, AWS takes 4 KB (${BYTES_MAX}): shorten ${named}, or put long values into ` +
      'files beside your handlers or into linked secrets',
  );
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
