# Auth and forge in one container; states belong to the machine itself (services/state/packaging).
#
#   docker build -t croft .
#   docker run --init --stop-timeout 30 -v croft:/data -p 8081:8081 -p 3000:3000 croft
#
# Settings are variables (docs/configuration.md): -e DATABASE_URL=… for a PostgreSQL of your own, -e FORGE_ROOT_URL=… and
# -e AUTHSVC_API_EXTERNAL_URL=… for the addresses that the world sees, -e AUTHSVC_TRUSTED_PROXIES=loopback,… for the proxy
# in front (docs/operations.md). Commands: docker exec … npx croft auth admin --help
FROM node:24-bookworm-slim

RUN apt-get update \
  && apt-get install -y --no-install-recommends git ca-certificates \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /croft
COPY . .
# The Node of the image will do, so the one that comes with the packages goes.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && npm cache clean --force \
  && rm -rf node_modules/node-linux-* \
  && mkdir /data \
  && chown node:node /data

ENV CROFT_DATA=/data AUTHSVC_API_HOST=0.0.0.0 FORGE_HTTP_HOST=0.0.0.0
USER node
VOLUME /data
EXPOSE 8081 3000
HEALTHCHECK --start-period=30s CMD ["node", "-e", "for (const at of ['8081/ready', '3000/api/healthz']) fetch(`http://127.0.0.1:${at}`).then(({ ok }) => ok || process.exit(1), () => process.exit(1))"]
CMD ["node", "bootstrap.js", "main.ts", "start", "auth", "forge"]
