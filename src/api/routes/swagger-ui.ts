import * as z from 'zod';
import { ok } from '../../core/result.ts';
import { refuse } from '../../engine/refusal.ts';
import type { SwaggerFile } from '../api-deps.ts';
import type { Answer } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { NoParameters } from '../schemas/wire-values.ts';
import { PAGE, START_SCRIPT, STYLE } from '../swagger-page.ts';

const parts = { tag: 'service', mount: 'root', method: 'GET', access: 'key', query: NoParameters } as const;

/** The page may load what this server sends and nothing else; some icons are drawn from data addresses. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, max-age=300',
};

const OWN_FILES: Readonly<Record<'start.js' | 'style.css', string>> = {
  'start.js': START_SCRIPT,
  'style.css': STYLE,
};

const FileName = z.enum(['swagger-ui-bundle.js', 'swagger-ui.css', 'start.js', 'style.css']);

const page = defineRoute({
  ...parts,
  path: '/swagger-ui',
  params: NoParameters,
  summary: 'This API in Swagger UI, for a browser; 404 where the host brings no page',
  responses: { 200: null },
  media: 'text/html',
  handle: ({ swaggerFile }) =>
    swaggerFile?.('swagger-ui.css') ? sent('text/html', new TextEncoder().encode(PAGE)) : absent(),
});

const file = defineRoute({
  ...parts,
  path: '/swagger-ui/{file}',
  params: z.object({ file: FileName }),
  summary: 'A file of that page',
  responses: { 200: null },
  media: 'text/*',
  handle: ({ swaggerFile }, { path }) => {
    const { file: name } = path;
    const content =
      name === 'start.js' || name === 'style.css'
        ? new TextEncoder().encode(OWN_FILES[name])
        : (swaggerFile?.(name satisfies SwaggerFile) ?? null);
    return content === null ? absent() : sent(name.endsWith('.js') ? 'text/javascript' : 'text/css', content);
  },
});

function sent(type: string, content: Uint8Array): Answer {
  return ok({
    status: 200,
    bytes: { content, headers: { ...HEADERS, 'content-type': `${type}; charset=utf-8` } },
  });
}

function absent(): Answer {
  return refuse('not_found', 'this host has no page for browsers; the document is at /api-docs/openapi.json');
}

export const swaggerUiRoutes = [page, file];
