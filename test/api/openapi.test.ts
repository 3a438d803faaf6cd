import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { type Body, createFixture } from './support/api-fixture.ts';

/** Every `$ref` of a document, and whether something stands there. */
function danglingReferences(document: Body): readonly string[] {
  const references: string[] = [];
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') references.push(value);
    return value;
  });
  return references.filter((reference) => {
    const steps = reference.replace(/^#\//, '').split('/');
    return steps.reduce<Body>((at, step) => at?.[step], document) === undefined;
  });
}

describe('the OpenAPI document', () => {
  const api = createFixture();

  it('names every route once, with its parameters, body and answers', async () => {
    const { status, body, headers } = await api.send('GET', '/api-docs/openapi.json');
    expect({ status, openapi: body.openapi }).toEqual({ status: 200, openapi: '3.1.0' });
    expect(headers.get('content-type')).toBe('application/json');
    for (const route of ROUTES) {
      const path = (route.mount === 'both' ? '/api/v1' : '') + route.path;
      const operation = body.paths[path]?.[route.method.toLowerCase()];
      expect(operation, `${route.method} ${path}`).toBeDefined();
      const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = operation.parameters.filter((parameter: Body) => parameter.in === 'path');
      expect(new Set(described.map((parameter: Body) => parameter.name))).toEqual(new Set(inPath));
      expect(operation.requestBody !== undefined).toBe(route.body.kind !== 'none');
      expect(Object.keys(operation.responses)).toEqual([...Object.keys(route.responses), '4XX', '5XX']);
    }
  });

  it('gives each operation a name of its own and refers to nothing that is not there', async () => {
    const { body } = await api.send('GET', '/api-docs/openapi.json');
    const operations: Body[] = Object.values(body.paths).flatMap((path: Body) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(danglingReferences(body)).toEqual([]);
  });
});
