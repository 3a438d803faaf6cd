/** Where something stands in a document: member names and list indexes from the top. */
export type Path = readonly (string | number)[];

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const SHOWN_LENGTH = 64;

/** `blocks[2].routes[0].condition`, the form in which replies name a place ([PUB-2]). */
export function formatPath(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (PLAIN_NAME.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(shorten(part))}]`;
  }
  return text;
}

/** User text cut to a length that cannot flood a reply or a log line. */
export function shorten(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}
