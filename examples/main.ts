/** `npm run example`: the one main job. See github-webhooks/README.md. */
import './github-webhooks/main.ts';
