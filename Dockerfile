# Shoal for the command line and the page. Building needs a package index, running needs no network:
#
#     docker build -t shoal .
#     docker run --rm --network none -v "$PWD:/data" --user "$(id -u):$(id -g)" shoal audit release.csv --quasi age,zip --k 5
#     docker run --rm -it -p 127.0.0.1:8000:8000 shoal serve --host 0.0.0.0 --port 8000 --no-browser
#
# More in docs/howto/pipelines.md.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
# The extra ml (scikit-learn and scipy, 200 MB) is only for one column of `shoal compare`.
ARG EXTRAS=web,db,files
RUN python -m venv /opt/shoal && /opt/shoal/bin/pip install --no-cache-dir ".[$EXTRAS]"

FROM python:3.12-slim
COPY --from=build /opt/shoal /opt/shoal
RUN useradd --create-home --uid 10001 shoal && mkdir /data && chown shoal /data
ENV PATH=/opt/shoal/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001
# Compiled for the processor that builds the image; on another kind the first run compiles again.
RUN shoal warmup
WORKDIR /data
EXPOSE 8000
# Says whether the page listens; a command that ends by itself is over before it is asked.
HEALTHCHECK --interval=1m --start-period=30s \
    CMD python -c "import socket; socket.create_connection(('127.0.0.1', 8000), 3)"
ENTRYPOINT ["shoal"]
CMD ["--help"]
