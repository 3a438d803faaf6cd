import type { Path } from './paths.ts';
import type { Chain, Segment, Target, TemplateText } from './template-syntax.ts';

/** All chains of a text. */
export function templateChains(template: TemplateText): readonly Chain[] {
  return template.kind === 'whole'
    ? [template.chain]
    : template.parts.filter((part) => typeof part !== 'string');
}

/** All paths with a known root in a text: sources, fallbacks and replacements. */
export function templatePaths(template: TemplateText): readonly Path[] {
  return templateChains(template).flatMap(({ source, segments }) =>
    [source, ...segments].flatMap((segment) => {
      const target = targetOf(segment);
      return target?.kind === 'path' ? [target.path] : [];
    }),
  );
}

function targetOf(segment: Segment): Target | undefined {
  switch (segment.kind) {
    case 'literal':
      return undefined;
    case 'reading':
      return segment.target;
    case 'filter':
      return segment.filter.name === 'replace' ? segment.filter.replacement.target : undefined;
  }
}
