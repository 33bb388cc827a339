# Everything Headrace runs on servers, in one image: docker-compose.yml says which part a
# container is.

FROM node:24-bookworm-slim AS frontend
WORKDIR /opt/headrace/frontend
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci
COPY frontend ./
RUN npm run build

FROM python:3.12-slim-bookworm
# procps: Spark's own scripts ask for `ps`.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends default-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*
ENV JAVA_HOME=/usr/lib/jvm/default-java \
    PYTHONUNBUFFERED=1 \
    PYSPARK_PYTHON=/opt/headrace/.venv/bin/python \
    PATH=/opt/headrace/.venv/bin:$PATH \
    HEADRACE_DATA=/var/lib/headrace
WORKDIR /opt/headrace

# What is installed changes seldom, so it comes before what is written here.
COPY requirements.lock requirements-uv.lock ./
COPY runner/ivy.xml runner/
COPY runner/operators runner/operators
COPY builder/__init__.py builder/
COPY builder/local builder/local
# A Redis of its own is not for this image.
RUN UV_NO_CACHE=1 REDIS_URL=elsewhere python3 -m builder.local.install --no-frontend

COPY manage.py ./
COPY runner runner
# Jobs start faster with Spark's classes written down.
RUN python -m runner.write_class_archive
COPY builder builder
COPY --from=frontend /opt/headrace/frontend/dist frontend/dist

RUN useradd --uid 1000 --create-home headrace \
    && install --directory --owner=headrace --group=headrace --mode=0700 /var/lib/headrace
USER headrace
VOLUME /var/lib/headrace
EXPOSE 8000
CMD ["uvicorn", "builder.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--lifespan", "off", "--ws-per-message-deflate", "false"]
