"""What axe finds wrong with a page for those who use it with other senses or other tools."""

from pathlib import Path
from typing import Any

AXE = Path(__file__).resolve().parents[2] / "frontend/node_modules/axe-core/axe.min.js"
# WCAG 2.2 at level AA, and what axe holds to be good practice besides.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def faults(page: Any) -> list[str]:
    """Each fault of the page as it stands, with the elements that have it; none is the aim."""
    page.evaluate(AXE.read_text())
    found = page.evaluate(
        "(tags) => axe.run(document, {runOnly: {type: 'tag', values: tags}})", RULES
    )
    return [
        f"{fault['id']}: {fault['help']}: {[node['html'][:160] for node in fault['nodes'][:4]]}"
        for fault in found["violations"]
    ]
