/** The service that the example calls: put yours here. It is told to all functions by sst.config.ts. */
export const DESK = process.env['DESK_URL'] ?? 'https://desk.example.com';
