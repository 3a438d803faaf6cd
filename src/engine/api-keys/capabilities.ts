import type { Capability } from '../../ports/store/api-keys.ts';

const PATHS: Readonly<Record<Exclude<Capability, 'operator' | 'auditor'>, RegExp>> = {
  worker: /^\/(?:workers|handlers)(?:\/|$)/,
  approver: /^\/(?:approvals(?:\/|$)|instances\/\{id\}\/(?:signals|approvals)(?:\/|$))/,
  publisher: /^\/(?:sequences(?:\.json)?|plugins|releases)(?:\/|$)/,
  device: /^\/mobile(?:\/|$)/,
};

/** Whether one of the capabilities allows a call (http-api.md 24), by method and path without prefix. */
export function mayCall(capabilities: readonly Capability[], method: string, path: string): boolean {
  return capabilities.some((capability) => {
    switch (capability) {
      case 'operator':
        return true;
      case 'auditor':
        return method === 'GET' || method === 'HEAD';
      case 'approver':
        // It answers gates, and reads no runs: neither their signals.
        return PATHS.approver.test(path) && (method === 'POST' || !path.endsWith('/signals'));
      case 'worker':
      case 'publisher':
      case 'device':
        return PATHS[capability].test(path);
    }
  });
}
