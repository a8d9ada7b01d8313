# One image for all processes of the service. Without arguments, the container runs all of them, like `npm start`:
#
#   docker build -t undertone .
#   docker run -d --name undertone --stop-timeout 40 -p 127.0.0.1:8080:8080 -v undertone:/data undertone
#   docker exec undertone cat /data/first-key     # the first key; take it, and delete the file
#
# `deploy/run web`, `deploy/run worker` and `deploy/run nats` run one process each (docs/deploy.md). The base images are
# pinned by tag, not by digest: `docker build --pull` brings the security updates of the system.

# The stage has npm. Node itself comes from package-lock.json: the image runs the Node that the tests run on.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY tools/install tools/install
RUN npm ci --omit=dev

FROM nats:2.14-alpine AS nats

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Undertone" \
      org.opencontainers.image.description="Self-hosted conversation analytics" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=nats /usr/local/bin/nats-server /usr/local/bin/nats-server
# npm runs the commands, as everywhere: docker exec undertone npm run --silent keys -- list
COPY --from=build /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && install -d -m 700 -o 10001 -g 10001 /data
COPY --from=build /app/node_modules node_modules
COPY . .
# HOST: inside a container, 127.0.0.1 is the container's own. Who can reach the port is decided where it is published.
# HOME: npm and DuckDB look for their settings there; the root file system may be read-only, /tmp must not be.
ENV NODE_ENV=production \
    PATH=/app/node_modules/.bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/tmp \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/data
# A number, so that Kubernetes sees that it is not root.
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s CMD ["node", "deploy/health.mjs", "web"]
CMD ["node", "src/main/start.ts"]
