/** A project whose `poison` ends its process while others are at work beside it. */
export const POISON_HANDLERS = `import { defineHandler } from 'stepwell/handler';
const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const good = defineHandler('good', {}, async () => { await pass(600); return 1; });
export const poison = defineHandler('poison', {}, async () => { await pass(200); process.exit(7); });
`;
