# A coordinator with its trainer. The build context is this folder, with the packed program in it. The commands are in docs/operate/containers.md.
FROM node:22.21.1-bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends python3 python3-venv \
  && rm -rf /var/lib/apt/lists/*
COPY prove-swarm-*.tgz /tmp/prove-swarm.tgz
RUN npm install --global --prefix /opt/prove --no-audit --no-fund /tmp/prove-swarm.tgz \
  && useradd --uid 10001 --create-home prove \
  && install --directory --owner prove --group prove --mode 0700 /data
ENV PATH=/opt/prove/bin:${PATH}
USER prove
WORKDIR /data
# A package index without CUDA makes the image several GB smaller.
ARG PIP_EXTRA_INDEX_URL=""
RUN PIP_NO_CACHE_DIR=1 prove-coordinator setup
# The run's key, its log, adapters and tasks.
VOLUME /data
EXPOSE 4001 4080
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s CMD ["node", "-e", "fetch('http://127.0.0.1:4080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["prove-coordinator"]
CMD ["start", "--config", "/etc/prove/run.yaml"]
