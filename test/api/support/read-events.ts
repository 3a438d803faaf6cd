import type { Body } from './api-fixture.ts';

export interface ReadEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Body;
}

/** The events of a stream as a client parses them; comments are left out. */
export function readEvents(text: string): readonly ReadEvent[] {
  return text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => !line.startsWith(':')))
    .filter((lines) => lines.some((line) => line !== ''))
    .map((lines) => {
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return {
        event: field('event') ?? 'message',
        id: field('id'),
        data: JSON.parse(field('data') ?? 'null'),
      };
    });
}
