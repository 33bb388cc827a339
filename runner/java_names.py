"""Java's classes and static methods as PySpark asks for them, each looked up once."""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JVMView


class JavaNames(JVMView):  # type: ignore[misc]
    """A view of Java that remembers what a name stands for.

    Py4J's own asks Java at each use, which for a statement is most of what it asks.
    """

    @classmethod
    def of(cls, view: JVMView) -> "JavaNames":
        """The same names as another view's."""
        return cls(view._gateway_client, view._jvm_name, id=view._id)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaClass):
            found = _Class(found._fqn, self._gateway_client)
            setattr(self, name, found)
        return found


class _Class(JavaClass):  # type: ignore[misc]
    """A Java class that remembers its static methods; their values may change, they do not."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            setattr(self, name, found)
        return found
