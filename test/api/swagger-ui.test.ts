import { beforeEach, describe, expect, it } from 'vitest';
import { swaggerFiles } from '../../src/adapters/local/swagger-files.ts';
import { type ApiFixture, createFixture } from './support/api-fixture.ts';

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': '.swagger-ui {}',
  'swagger-ui-bundle.js': 'const SwaggerUIBundle = () => {};',
};

describe('GET /swagger-ui [API 2]', () => {
  let api: ApiFixture;
  beforeEach(() => {
    const swaggerFile = (name: string) => new TextEncoder().encode(FILES[name]);
    api = createFixture({}, { swaggerFile });
  });

  it('is a page whose scripts and styles all come from this server', async () => {
    for (const path of ['/swagger-ui', '/swagger-ui/']) {
      const page = await api.send('GET', path, { tenant: null });
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const named = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target ?? '');
      expect(named.filter((target) => !target.startsWith('/') && target !== 'data:,')).toEqual([]);
      expect(page.text).not.toMatch(/<script>|<style>|style=| on[a-z]+=/);
      for (const target of named.filter((one) => one.startsWith('/'))) {
        expect((await api.send('GET', target, { tenant: null })).status).toBe(200);
      }
    }
  });

  it('lets the browser load nothing from elsewhere and run nothing that stands in the page', async () => {
    const { headers } = await api.send('GET', '/swagger-ui');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|unsafe-/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('has no other files', async () => {
    for (const path of ['/swagger-ui/index.html', '/swagger-ui/..%2fpackage.json', '/swagger-ui/%2e%2e']) {
      expect([400, 404]).toContain((await api.send('GET', path)).status);
    }
    const script = await api.send('GET', '/swagger-ui/swagger-ui-bundle.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.text).toBe(FILES['swagger-ui-bundle.js']);
  });

  it('is not there on a host that brings no files', async () => {
    for (const bare of [createFixture(), createFixture({}, { swaggerFile: () => null })]) {
      for (const path of ['/swagger-ui', '/swagger-ui/swagger-ui.css']) {
        expect((await bare.send('GET', path)).status).toBe(404);
      }
    }
  });

  it('needs a key when keys are on', async () => {
    const keyed = createFixture({ apiKey: 'root-key' }, { swaggerFile: () => new Uint8Array() });
    for (const path of ['/swagger-ui', '/swagger-ui/start.js']) {
      expect((await keyed.send('GET', path)).status).toBe(401);
      expect((await keyed.send('GET', path, { headers: { 'x-api-key': 'root-key' } })).status).toBe(200);
    }
  });

  it('finds its files in the folder of the package, or none', () => {
    const read = swaggerFiles('node_modules/no-such-folder');
    expect(read('swagger-ui.css')).toBeNull();
  });
});
