import type { Plugin } from 'vite';

const DEFERRED = /\bimport\('(\.[^']+)'\)/g;

/**
 * Engine code that is loaded when it is first needed is loaded before the tests begin: their clock stands still or runs
 * ahead while they wait, and reading a file is the one thing that it does not drive.
 */
export function eagerImports(): Plugin {
  return {
    name: 'eager-imports',
    enforce: 'pre',
    transform(code, id) {
      if (!id.includes('/src/engine/')) return null;
      const paths = [...new Set([...code.matchAll(DEFERRED)].map(([, path]) => path ?? ''))];
      if (paths.length === 0) return null;
      const imports = paths.map((path, index) => `import * as deferred${index} from '${path}';`);
      const body = code.replace(
        DEFERRED,
        (_, path: string) => `Promise.resolve(deferred${paths.indexOf(path)})`,
      );
      return { code: `${imports.join(' ')}${body}`, map: null };
    },
  };
}
