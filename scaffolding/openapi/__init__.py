"""Skills from an OpenAPI document: one for each operation, with starter tasks from the document's own examples."""

from eval_skills.scaffolding.openapi.importing import Imported, import_openapi

__all__ = ["Imported", "import_openapi"]
