"""What the shelf is worth."""

RATES = {"USD": 1.0, "EUR": 0.9}


def total(shelf, currency="USD"):
    worth = sum(item["amount"] * item["price"] for item in shelf.values())
    return str(round(worth))
