"""The HTTP API: its page is /api/docs."""

from typing import Any

from django.http import HttpRequest
from ninja import Field, NinjaAPI, Status
from ninja.operation import Operation

from builder.access.api import router as access
from builder.access.identity import IDENTITIES
from builder.alerts.api import router as alerts
from builder.connections.api import router as connections
from builder.connections.topics_api import router as topics
from builder.deployments.api import router as deployments
from builder.environments.api import router as environments
from builder.health import health
from builder.json_body import JsonBody
from builder.letters.api import router as letters
from builder.monitor.api import router as monitor
from builder.pipelines.api import router as pipelines
from builder.refused import answer_with_problem_json
from builder.schema import Json, ProblemOut, Schema
from runner.functions import functions


class ErrorOut(Schema):
    """An error, as application/problem+json."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[ProblemOut] | None = None
    # With 409, what somebody else saved in between.
    revision: int | None = None
    name: str | None = None
    graph: Json | None = None


class HeadraceAPI(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The function's name: the generated client calls it so, too."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> Any:
        """The description of the API, with the one shape that all errors have."""
        described = super().get_openapi_schema(**options)
        described["components"]["schemas"]["ErrorOut"] = ErrorOut.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        described["components"]["schemas"]["ErrorOut"].pop("$defs", None)
        error = {"schema": {"$ref": "#/components/schemas/ErrorOut"}}
        for operations in described["paths"].values():
            for operation in operations.values():
                operation["responses"]["default"] = {
                    "description": "Error",
                    "content": {"application/problem+json": error},
                }
        return described


api = HeadraceAPI(
    title="Headrace",
    version="1",
    description="Draw stream-processing pipelines, run them on Spark, watch them.",
    auth=IDENTITIES,
    parser=JsonBody(),
)
answer_with_problem_json(api)
for router in (
    access, pipelines, connections, topics, environments, deployments, letters, monitor, alerts,
):  # fmt: skip
    api.add_router("", router)


class FunctionOut(Schema):
    name: str
    signature: str
    summary: str
    group: str = Field(description="As in Spark's documentation; agg_funcs are for aggregates only")
    example: str | None


@api.get(
    "/functions",
    response=list[FunctionOut],
    tags=["pipelines"],
    summary="The functions of expressions",
)
def list_functions(request: HttpRequest) -> Any:
    """List the functions that expressions and aggregate steps may call, in Spark's words."""
    return functions()


class HealthCheck(Schema):
    ok: bool
    message: str


class Health(Schema):
    status: str
    checks: dict[str, HealthCheck]


@api.get(
    "/health", auth=None, response={200: Health, 503: Health}, tags=["health"], summary="Health"
)
def get_health(request: HttpRequest) -> Any:
    """Answer each dependency; 503 only where Headrace itself can't answer."""
    alive, found = health()
    return Status(200 if alive else 503, found)
