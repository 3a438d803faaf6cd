/** The service that the example calls: put yours here. It must be reachable from the internet. */
export const DESK = 'https://desk.example.com';
