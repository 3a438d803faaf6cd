const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `12 s ago`, `5 min ago`, `3 h ago`, `40 d ago`. */
export function ago(at: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(at));
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit === undefined ? `${Math.floor(ms / 1000)} s ago` : `${Math.floor(ms / unit[1])} ${unit[0]} ago`;
}

/** What a wait is for and until when, for people: `asleep at nap until …`, `for input at agree`. */
export function waitWords(reason: string, wakeAt: string | null, where = ''): string {
  const what = reason === 'sleep' ? `asleep${where}` : `for ${reason.replaceAll('_', ' ')}${where}`;
  return wakeAt === null ? what : `${what} until ${withoutMillis(wakeAt)}`;
}

function withoutMillis(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z');
}
