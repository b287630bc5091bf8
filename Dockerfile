FROM debian:trixie-slim AS build
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup --build-only
COPY . .
RUN cmake --preset release && cmake --build --preset release --target lockstep sbom && \
    scripts/image-root build/release/lockstep /image && \
    install -D -m 644 -t /image/usr/share/doc/lockstep build/release/lockstep.cdx.json

FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/bin/lockstep"]
CMD ["help"]
