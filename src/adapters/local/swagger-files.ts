import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads the files of Swagger UI from the package's dist/, where the build puts them. Each is read once and kept; one that is not
 * there is looked for again, since a build may be under way.
 */
export function swaggerFiles(folder: string): (name: string) => Uint8Array | null {
  const kept = new Map<string, Uint8Array>();
  return (name) => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    try {
      const bytes = readFileSync(join(folder, 'swagger-ui', name));
      kept.set(name, bytes);
      return bytes;
    } catch {
      return null;
    }
  };
}
