"""The texts of generated list pages."""

from __future__ import annotations

from random import Random

FIRST = [
    "Ada",
    "Bruno",
    "Chidi",
    "Dara",
    "Elif",
    "Femi",
    "Greta",
    "Hanna",
    "Ivo",
    "Jana",
    "Kofi",
    "Lena",
    "Milan",
    "Nora",
    "Otto",
    "Pia",
]
LAST = [
    "Abel",
    "Brandt",
    "Castro",
    "Dietz",
    "Eriksen",
    "Fuchs",
    "Garcia",
    "Hoang",
    "Ito",
    "Jansen",
    "Keller",
    "Lopez",
    "Moreau",
]
THINGS = [
    "kettle",
    "lamp",
    "desk",
    "chair",
    "tent",
    "backpack",
    "bicycle",
    "notebook",
    "camera",
    "speaker",
    "blanket",
    "mirror",
    "teapot",
    "ladder",
    "drill",
    "hammock",
    "lantern",
    "globe",
    "clock",
    "scarf",
]
LOOKS = [
    "red",
    "oak",
    "folding",
    "brass",
    "woollen",
    "compact",
    "steel",
    "quiet",
    "light",
    "vintage",
    "round",
    "soft",
    "tall",
]
TOWNS = [
    "Lisbon",
    "Oslo",
    "Graz",
    "Turin",
    "Ghent",
    "Porto",
    "Lyon",
    "Basel",
    "Bergen",
    "Leeds",
    "Malmo",
    "Krakow",
    "Split",
]
FIRMS = [
    "Norvik",
    "Alta Works",
    "Bluefin",
    "Quarry & Sons",
    "Lumen",
    "Tidewater",
    "Karst",
    "Ostrava Mills",
]
TOPICS = [
    "harbour",
    "budget",
    "festival",
    "railway",
    "museum",
    "bridge",
    "election",
    "garden",
    "school",
    "theatre",
    "river",
    "market",
    "library",
    "stadium",
    "hospital",
    "tunnel",
    "bakery",
    "airport",
]
VERBS = [
    "opens",
    "closes",
    "grows",
    "reopens",
    "wins",
    "loses",
    "moves",
    "doubles",
    "shrinks",
    "returns",
    "celebrates",
]
TAGS = [
    "news",
    "local",
    "sport",
    "food",
    "travel",
    "science",
    "culture",
    "money",
    "weather",
    "history",
]
FILLER = [
    "The plan was first discussed in spring and has been changed twice since then",
    "Neighbours say that they would rather keep the old trees along the road",
    "A second report is expected before the end of the year",
    "Visitors should bring warm clothes and enough water for the day",
    "It comes with a small manual and a two year warranty",
    "Most of the work is done by volunteers who meet on Saturdays",
    "The price includes breakfast and the ride to the station",
    "We tried it for a week and did not want to give it back.",
]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def sentences(random: Random, least: int, most: int) -> str:
    """Some sentences of filler text."""
    count = random.randint(least, most)
    return " ".join(random.choice(FILLER).rstrip(".") + "." for _ in range(count))


def values(random: Random, number: int) -> dict[str, str]:
    """Everything that a record may show; a style takes the values that it needs."""
    day, month, year = random.randint(1, 28), random.randint(1, 12), random.randint(2019, 2026)
    person = f"{random.choice(FIRST)} {random.choice(LAST)}"
    thing = f"{random.choice(LOOKS)} {random.choice(THINGS)}".capitalize()
    town = random.choice(TOWNS)
    topic = random.choice(TOPICS)
    price = random.randint(300, 99900) / 100
    return {
        "n": str(number),
        "alt": "odd" if number % 2 else "even",
        "id": str(random.randint(10000, 99999)),
        "thing": thing,
        "person": person,
        "user": person.split(maxsplit=1)[0].lower() + str(random.randint(1, 99)),
        "town": town,
        "firm": random.choice(FIRMS),
        "headline": f"{town}: {topic} {random.choice(VERBS)} after {random.randint(2, 40)} years",
        "topic": topic,
        "tag": random.choice(TAGS),
        "tag2": random.choice(TAGS),
        "price": f"{price:.2f}",
        "old": f"{price * 1.2:.2f}",
        "comma": f"{price:.2f}".replace(".", ","),
        "salary": f"{random.randint(28, 95)},000",
        "count": str(random.randint(0, 980)),
        "big": f"{random.randint(1, 99)},{random.randint(100, 999)}",
        "share": f"{random.uniform(-5, 9):.1f}",
        "rate": f"{random.uniform(2.5, 5):.1f}",
        "date": f"{day} {MONTHS[month - 1]} {year}",
        "iso": f"{year}-{month:02}-{day:02}",
        "us": f"{month:02}/{day:02}/{year}",
        "ago": f"{random.randint(2, 23)} hours ago",
        "time": f"{random.randint(8, 21):02}:{random.choice(['00', '15', '30', '45'])}",
        "short": sentences(random, 1, 1),
        "text": sentences(random, 1, 3),
        "long": sentences(random, 3, 6),
        "slug": f"{thing} {number}".lower().replace(" ", "-"),
        "rooms": str(random.randint(1, 6)),
        "size": str(random.randint(28, 210)),
        "mail": person.split(maxsplit=1)[0].lower() + "@example.org",
        "phone": f"+49 30 {random.randint(100000, 999999)}",
        "version": f"{random.randint(0, 4)}.{random.randint(0, 20)}.{random.randint(0, 9)}",
    }
