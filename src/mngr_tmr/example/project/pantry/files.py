"""The shelf as a file, and somewhere else."""

import csv
import os
import urllib.request

from pantry import shelf


def write_csv(path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for name, item in sorted(shelf.load().items()):
            writer.writerow([name, item["amount"], item["price"]])


def read_csv(path):
    with open(path, newline="") as file:
        found = {
            name: {"amount": int(amount), "price": float(price)} for name, amount, price in csv.reader(file)
        }
    shelf.save(found)


def sync():
    server = os.environ.get("PANTRY_SERVER")
    if not server:
        raise shelf.PantryError("PANTRY_SERVER is not set")
    with open(shelf.FILE, "rb") as file:
        urllib.request.urlopen(server, data=file.read(), timeout=10)
