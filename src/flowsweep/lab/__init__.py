"""Emulated paths: hosts as network namespaces, joined by a router that shapes. docs/guide/lab.md says why."""

from flowsweep.lab.build import Lab, build_lab
from flowsweep.lab.possible import lab_possible
from flowsweep.lab.rootless import enter_user_namespace_if_needed

__all__ = ["Lab", "build_lab", "enter_user_namespace_if_needed", "lab_possible"]
