/**
 * True for `.` and `..`: URLs drop such segments, however they are written, so a thing with that name could be created and
 * never be reached (RFC 3986, 6.2.2.3).
 */
export function isDotSegment(name: string): boolean {
  return name === '.' || name === '..';
}
