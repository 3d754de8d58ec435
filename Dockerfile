FROM python:3.13-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PARTITA_DATA_DIR=/var/lib/partita
WORKDIR /srv/partita
COPY requirements.txt requirements-demo.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt \
    && pip install --no-cache-dir --require-hashes --no-deps -r requirements-demo.txt
COPY manage.py LICENSE ./
COPY core core
COPY scheduling scheduling
COPY partitions_site partitions_site
COPY templates templates
COPY static static
RUN useradd --system partita && install -d -o partita /var/lib/partita
USER partita
VOLUME /var/lib/partita
EXPOSE 8000
ENTRYPOINT ["python", "manage.py"]
CMD ["web", "--host", "0.0.0.0", "--port", "8000"]
