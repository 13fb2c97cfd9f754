"""Which Compose projects shall run this cycle, whoever declares them."""

from __future__ import annotations

from mqctl.model import Status
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
