import { sha256Hex } from '../../core/digest.ts';

export interface Upload {
  readonly field: string;
  readonly filename: string;
}

/**
 * One file as `multipart/form-data`. The boundary comes from a digest, so a repeat of the attempt sends the same bytes, and
 * no file holds it but by design.
 */
export function multipartBody(
  upload: Upload,
  contentType: string,
  bytes: Uint8Array,
  seed: string,
): { readonly body: Uint8Array; readonly contentType: string } {
  const boundary = `stepwell-${sha256Hex(`boundary:${seed}`)}`;
  const disposition = `form-data; name="${quoted(upload.field)}"; filename="${quoted(upload.filename)}"`;
  const head = `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${oneLine(contentType)}\r\n\r\n`;
  const parts = [new TextEncoder().encode(head), bytes, new TextEncoder().encode(`\r\n--${boundary}--\r\n`)];
  const body = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** As browsers write names of fields and files. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, ' ');
}
