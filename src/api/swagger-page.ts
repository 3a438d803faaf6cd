/**
 * The page around Swagger UI. Scripts and styles come from files, so that its policy needs no exception for what stands in the
 * page. The colours follow the system.
 */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Stepwell API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/swagger-ui/swagger-ui.css" />
    <link rel="stylesheet" href="/swagger-ui/style.css" />
    <script src="/swagger-ui/swagger-ui-bundle.js" defer></script>
    <script src="/swagger-ui/start.js" defer></script>
  </head>
  <body>
    <main id="swagger-ui" aria-label="Stepwell API">
      <noscript>This page needs JavaScript. The document is at <a href="/api-docs/openapi.json">/api-docs/openapi.json</a>.</noscript>
    </main>
  </body>
</html>
`;

/** No key is kept by the browser, and nothing is asked of other servers. */
export const START_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyTheme();
dark.addEventListener('change', applyTheme);
SwaggerUIBundle({
  url: '/api-docs/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

export const STYLE = `body {
  margin: 0;
}
html.dark-mode body {
  background: #1c2022;
}
`;
