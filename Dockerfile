# `stepwell serve` in a container: docs/deploy-node.md. Built from a clone: docker build -t stepwell .

FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.base.json tsconfig.json tsconfig.build.json ./
COPY LICENSE README.md CHANGELOG.md ./
COPY scripts ./scripts
COPY migrations ./migrations
COPY src ./src
COPY functions ./functions
COPY infra ./infra
RUN node scripts/build.mjs
RUN npm pack --ignore-scripts

# The dependencies of the lock file, and the package as npm would install it: nothing else reaches the image.
FROM node:22-slim AS install
WORKDIR /install
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts
COPY --from=build /build/stepwell-*.tgz ./
RUN mkdir node_modules/stepwell && tar -xzf stepwell-*.tgz -C node_modules/stepwell --strip-components=1

FROM node:22-slim
ENV NODE_ENV=production
ENV STEPWELL_HTTP_ADDR=0.0.0.0:8080
WORKDIR /app
COPY --from=install /install/node_modules ./node_modules
USER node
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.STEPWELL_HTTP_ADDR.split(':').pop() + '/health/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell and no npm between the platform's signal and the server.
ENTRYPOINT ["node", "node_modules/stepwell/dist/cli.js"]
CMD ["serve", "--json"]
