"""Which Compose projects shall run this cycle, whoever declares them."""

from __future__ import annotations

from mqctl.host import docker
from mqctl.model import PullPolicy, Status
from mqctl.phases.base import View
from mqctl.phases.projects import Project, of_chat, of_playground
from mqctl.phases.rest import foreign_project, resting, selected
from mqctl.phases.staging import chosen


def playgrounds(view: View) -> list[Project]:
    """The projects of the Playgrounds that are not left in peace."""
    return [
        of_playground(view.marquee, one) for one in selected(view) if resting(view, one) is None
    ]


def chats(view: View) -> list[Project]:
    """The projects of the AgentChats that shall run; none when one Playground was asked for."""
    if view.select.playground is not None:
        return []
    return [
        of_chat(view.marquee, one)
        for one in view.marquee.agent_chats
        if one.status is Status.ACTIVE
        and not foreign_project(view.facts, one.project, view.marquee.fleet, view.marquee.name)
    ]


def projects(view: View) -> list[Project]:
    """Both."""
    return playgrounds(view) + chats(view)


def references_of(view: View, project: Project) -> list[str]:
    """The images that a project's services name and do not build."""
    record = view.facts.project(project.name).record
    staged = record.staged if record else None
    services = chosen(staged.services) if staged else {}
    return sorted({one.image for one in services.values() if one.image and not one.build})


def awaited_images(view: View) -> frozenset[str]:
    """In a dry run: the images whose id is known only after the pulls that come first."""
    if not view.dry_run:
        return frozenset()
    awaited = set()
    for project in projects(view):
        for reference in references_of(view, project):
            present = docker.canonical(reference) in view.facts.images
            missing = not present and project.pull_policy is PullPolicy.MISSING
            if missing or project.pull_policy is PullPolicy.ALWAYS:
                awaited.add(reference)
    return frozenset(awaited)


def awaited_image(view: View, project: Project) -> str:
    """An awaited image that a project's services name, or ""."""
    awaited = awaited_images(view)
    return next((one for one in references_of(view, project) if one in awaited), "")
