"""What is on the shelf, in one JSON file."""

import json
import os

FILE = "pantry.json"


class PantryError(Exception):
    """Something that the user asked for cannot be done."""


def load():
    if not os.path.exists(FILE):
        return {}
    with open(FILE) as file:
        return json.load(file)


def save(shelf):
    with open(FILE, "w") as file:
        json.dump(shelf, file, indent=2)


def add(name, amount, price=0.0):
    shelf = load()
    shelf[name] = {"amount": 1, "price": price}
    save(shelf)


def take(name, amount):
    shelf = load()
    if name not in shelf:
        raise PantryError(f"no {name} on the shelf")
    left = amount - shelf[name]["amount"]
    if left < 0:
        raise PantryError(f"only {shelf[name]['amount']} {name} left")
    shelf[name]["amount"] = left
    save(shelf)


def rename(old, new):
    shelf = load()
    if new in shelf:
        raise PantryError(f"there is {new} already")
    del shelf[old]
    shelf[new] = {"amount": 0, "price": 0.0}
    save(shelf)
