"""What is asked: the entities, the instance made of them, and its JSON format."""

from placement_lab.problem.arrays import InstanceArrays
from placement_lab.problem.builder import InstanceBuilder
from placement_lab.problem.entities import (
    Edge,
    Job,
    Link,
    LinkSpeed,
    Model,
    Rules,
    Task,
    Worker,
    Workflow,
)
from placement_lab.problem.instance import Instance

__all__ = [
    "Edge",
    "Instance",
    "InstanceArrays",
    "InstanceBuilder",
    "Job",
    "Link",
    "LinkSpeed",
    "Model",
    "Rules",
    "Task",
    "Worker",
    "Workflow",
]
