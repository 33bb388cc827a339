"""Every write to pipelines and their versions."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from builder.access.activity import record
from builder.access.permissions import require, visible_or_404
from builder.pipelines.layout import layout
from builder.pipelines.models import Pipeline, Version, empty_graph
from builder.pipelines.templates import templates
from builder.refused import Refused
from runner.graph import Graph, read_graph


def make_pipeline(
    user: User,
    name: str | None = None,
    graph: dict[str, Any] | None = None,
    template: str | None = None,
) -> Pipeline:
    """Make a draft: empty, of a graph, or of a template.

    Raises InvalidGraph where the graph's shape is wrong; an unsound graph may be kept.
    """
    require(user, "add", Pipeline)
    if template is not None:
        if graph is not None:
            raise Refused(422, "Give a graph or a template, not both.")
        if template not in templates():
            raise Refused(
                422, f"There is no template {template}; {', '.join(templates())} are there."
            )
        chosen = templates()[template]
        graph, name = chosen["graph"], name or chosen["title"]
    if graph is None:
        graph = empty_graph()
    graph = _placed(graph, read_graph(graph))
    name = name or "New pipeline"
    with transaction.atomic():
        pipeline = Pipeline.objects.create(
            name=name, slug=_free_slug(name), owner=user, graph=graph
        )
        record(user, "add", pipeline, f"{user} made the pipeline {name}")
    return pipeline


def save_pipeline(
    user: User, pipeline_id: UUID, revision: int, name: str | None, graph: dict[str, Any] | None
) -> Pipeline:
    """Save a draft that was edited from `revision`.

    Raises Refused (409, with the newer pipeline) where somebody saved in between, and
    InvalidGraph where the graph's shape is wrong.
    """
    visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "change", Pipeline)
    if graph is not None:
        read_graph(graph)
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        if pipeline.revision != revision:
            raise Refused(
                409,
                f"Somebody saved this pipeline as revision {pipeline.revision}; "
                f"yours was made from {revision}.",
                revision=pipeline.revision,
                name=pipeline.name,
                graph=pipeline.graph,
            )
        if name is not None:
            pipeline.name = name
        if graph is not None:
            pipeline.graph = graph
        pipeline.revision += 1
        pipeline.save()
        record(user, "change", pipeline, f"{user} saved revision {pipeline.revision}")
    return pipeline


def delete_pipeline(user: User, pipeline_id: UUID) -> None:
    """Delete a pipeline with its versions and stopped deployments.

    Raises Refused (409) while a deployment of it runs or should run: deployments have their
    say as Django's `pre_delete` is sent.
    """
    visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "delete", Pipeline)
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        record(user, "delete", pipeline, f"{user} deleted the pipeline {pipeline.name}")
        pipeline.delete()


def make_version(user: User, pipeline_id: UUID, comment: str = "") -> Version:
    """Freeze the draft. Where nothing changed since the newest version, that one is answered."""
    visible_or_404(user, Pipeline.objects.all(), pk=pipeline_id)
    require(user, "change", Pipeline)
    with transaction.atomic():
        pipeline = visible_or_404(user, Pipeline.objects.select_for_update(), pk=pipeline_id)
        return freeze(user, pipeline, pipeline.graph, comment)


def freeze(user: User, pipeline: Pipeline, graph: dict[str, Any], comment: str) -> Version:
    """The newest version if it means the same as the graph, else a new one.

    Needs the lock of the pipeline's row.
    """
    hash_ = read_graph(graph).hash()
    newest = pipeline.versions.first()
    if newest is not None and newest.hash == hash_:
        return newest
    version = Version.objects.create(
        pipeline=pipeline,
        number=newest.number + 1 if newest else 1,
        graph=graph,
        hash=hash_,
        comment=comment,
        created_by=user,
    )
    record(user, "add", pipeline, f"{user} made version {version.number} {comment}".strip())
    return version


def _placed(data: dict[str, Any], graph: Graph) -> dict[str, Any]:
    """The graph's JSON, laid out where nobody has done so."""
    if not graph.steps or graph.canvas.get("layout"):
        return data
    return {**data, "canvas": {**graph.canvas, "layout": layout(graph)}}


def _free_slug(name: str) -> str:
    wanted = slugify(name).replace("_", "-").strip("-")[:50].strip("-") or "pipeline"
    taken = set(Pipeline.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    number, slug = 1, wanted
    while slug in taken:
        number += 1
        slug = f"{wanted}-{number}"
    return slug
