# A volunteer's node. ENGINE selects the backend: cpu, cuda (NVIDIA) or vulkan (other GPUs).
# The build context is this folder, with the packed program in it. The commands are in docs/operate/containers.md.
ARG ENGINE=cpu

FROM node:22.21.1-bookworm-slim AS plain

FROM plain AS program
ARG ENGINE
COPY prove-swarm-*.tgz /tmp/prove-swarm.tgz
# The package contains the engine's build for CPUs. The others are separate packages.
RUN npm install --global --prefix /opt/prove --no-audit --no-fund /tmp/prove-swarm.tgz \
  && if [ "${ENGINE}" != cpu ]; then /opt/prove/bin/prove-node setup --backend "${ENGINE}" --yes; fi

FROM plain AS base-cpu

FROM plain AS base-vulkan
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libvulkan1 mesa-vulkan-drivers \
  && rm -rf /var/lib/apt/lists/*

# The engine needs the libraries of CUDA 13. The host provides the driver's libraries.
FROM nvidia/cuda:13.0.1-runtime-ubuntu24.04 AS base-cuda
COPY --from=program /usr/local/bin/node /usr/local/bin/node

FROM base-${ENGINE} AS node
COPY --from=program /opt/prove /opt/prove
RUN useradd --uid 10001 --create-home --home-dir /data prove
ENV PATH=/opt/prove/bin:${PATH} XDG_DATA_HOME=/data
USER prove
WORKDIR /data
# Key with the credit, verdicts, limits and fetched models.
VOLUME /data
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["prove-node", "status", "--json"]
ENTRYPOINT ["prove-node"]
CMD ["--help"]
