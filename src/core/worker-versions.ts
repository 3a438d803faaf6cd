const PARTS = 8;

/**
 * True when a version is at least another one, compared as numbers part by part: `1.10.0` is above `1.9.4`. A part that is
 * no number counts as 0, as does one that is not there.
 */
export function isAtLeast(version: string, least: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(least)];
  for (let part = 0; part < PARTS; part += 1) {
    const [mine, wanted] = [left[part] ?? 0n, right[part] ?? 0n];
    if (mine !== wanted) return mine > wanted;
  }
  return true;
}

/** `v` before the first number is allowed. */
function numbersOf(version: string): readonly bigint[] {
  const parts = version.replace(/^[vV]+/, '').split('.');
  return parts.slice(0, PARTS).map((part) => BigInt(/^[0-9]{1,30}/.exec(part)?.[0] ?? '0'));
}

/** Whether a pin can be meant: it begins with a number. */
export function isVersion(text: string): boolean {
  return /^[vV]?[0-9]/.test(text);
}
