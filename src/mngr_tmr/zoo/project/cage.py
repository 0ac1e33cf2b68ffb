"""The cage."""


def door():
    return "shut"
