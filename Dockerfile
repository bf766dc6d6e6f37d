# The portal as a container: one image for web, worker and scheduler, run as a user without rights.
FROM python:3.12-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/portal

COPY requirements/base.txt requirements/base.txt
RUN pip install --require-hashes -r requirements/base.txt

COPY manage.py ./
COPY supernode_portal supernode_portal
COPY apps apps
COPY templates templates
COPY static static
COPY locale locale
COPY scripts/compile_messages.py scripts/compile_messages.py

# Static files are collected into the image, outside of the data volume.
ENV PORTAL_STATIC_ROOT=/srv/portal/collected
RUN python scripts/compile_messages.py \
 && PORTAL_DATA_DIR=/tmp/build python manage.py collectstatic --noinput --verbosity 0 \
 && rm -rf /tmp/build \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin portal \
 && install -d -o portal -g portal /data

USER portal
ENV PORTAL_DATA_DIR=/data
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "supernode_portal.wsgi", "--bind", "0.0.0.0:8000", "--worker-class", "gthread", \
     "--workers", "3", "--threads", "8", "--timeout", "60", "--worker-tmp-dir", "/dev/shm"]
